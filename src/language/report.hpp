// SPDX-License-Identifier: Apache-2.0
// What the stages of parse() have to say about a program, gathered.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "peal/diagnostic.hpp"

namespace peal::language {

// Thrown after an error was reported: the statement (or kernel) at hand is given up, the next one
// goes on.
struct Abandoned {};

// Thrown when so many errors were reported that more would not help anybody.
struct TooManyErrors {};

class Report {
public:
    static constexpr std::size_t kMaxErrors = 20;

    void error(Span span, std::string message, std::string hint = {});
    void warning(Span span, std::string message, std::string hint = {});
    // Reports an error and gives up what is being read.
    [[noreturn]] void fail(Span span, std::string message, std::string hint = {});

    std::size_t error_count() const { return errors_.size(); }

    // In source order.
    std::vector<Diagnostic> errors() const;
    std::vector<Diagnostic> warnings() const;

private:
    std::vector<Diagnostic> errors_;
    std::vector<Diagnostic> warnings_;
    bool overflowed_ = false;
};

}  // namespace peal::language
