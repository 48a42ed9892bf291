// SPDX-License-Identifier: Apache-2.0
// The error policy: whoever first knows the error throws it, with the whole story in what();
// nobody wraps it, and outputs are set only on success. Broken invariants of our own are asserts.
#pragma once

#include <stdexcept>
#include <string>

namespace peal {

// What kind of thing went wrong. The command line turns it into an exit code.
enum class Fault {
    usage,     // the caller asked for something that cannot be
    program,   // the program (text, IR or plan) is not well formed
    wrong,     // the program ran, or was checked, and is wrong: bad result, race, deadlock
    bound,     // a stated limit was reached before an answer was found
    resource,  // the machine said no: memory, files, processes
};

class Error : public std::runtime_error {
public:
    Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
    Fault fault() const { return fault_; }

private:
    Fault fault_;
};

}  // namespace peal
