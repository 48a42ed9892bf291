// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "peal/source.hpp"

namespace peal::emitter {

// Says what a device cannot do. Throws ProgramError at `where` in the program's text.
class Trouble {
public:
    explicit Trouble(const Source* source) : source_(source) {}
    [[noreturn]] void fail(Span where, std::string message, std::string hint = {}) const;

private:
    const Source* source_;
};

}  // namespace peal::emitter
