// SPDX-License-Identifier: Apache-2.0
// What is wrong with a file, told at its line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "peal/diagnostic.hpp"
#include "peal/source.hpp"

namespace peal::foreign {

[[noreturn]] inline void refuse(const Source& source, std::uint32_t line, std::string message,
                                std::string hint = {}) {
    const std::string_view text = source.line(line);
    const std::size_t indent = std::min(text.find_first_not_of(" \t"), text.size());
    Diagnostic diagnostic;
    diagnostic.span = {line, static_cast<std::uint32_t>(indent) + 1, 1};
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    throw ProgramError({diagnostic}, &source);
}

}  // namespace peal::foreign
