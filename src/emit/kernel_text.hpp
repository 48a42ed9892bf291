// SPDX-License-Identifier: Apache-2.0
// The parts of an emitted kernel's text: its first lines, its comments and what it makes use of.
#pragma once

#include <string>

#include "emit/cpp.hpp"
#include "emit/frame.hpp"
#include "emit/steps.hpp"
#include "peal/pto.hpp"

namespace peal::emit {

struct FrameNames {
    FrameNames(const Frame& frame, CppText& text);
    std::string rank, nranks, context, generation;
};

// Up to the includes. It declares the arguments and `more`.
std::string heading_of(const Frame& frame, pto::Device device, const pto::Declared& more);

// Definitions of what `body` uses, and of what they need themselves.
std::string argument_lines(const Frame& frame, const FrameNames& names, const std::string& body,
                           CppText& text);

// What a loop does, in a sentence; empty when there is nothing to say that its text does not.
std::string describe(const Loop& loop);

// "F32Tile"
std::string tile_type(Element element);

// The declarations that a kernel's code makes use of: constants, types and small functions; and
// behind them its own `functions`.
std::string helpers_for(const std::string& code, const std::string& functions,
                        const DeviceProgram& program);

}  // namespace peal::emit
