// SPDX-License-Identifier: Apache-2.0
// The first lines of an emitted kernel: what it is, and how it takes its arguments.
#pragma once

#include <string>

#include "emit/cpp.hpp"
#include "emit/frame.hpp"
#include "peal/pto.hpp"

namespace peal::emitter {

struct FrameNames {
    FrameNames(const Frame& frame, CppText& text);
    std::string rank, nranks, context, generation;
};

std::string heading_of(const Frame& frame, pto::Device device);

// Definitions of what `body` uses, and of what they need themselves.
std::string argument_lines(const Frame& frame, const FrameNames& names, const std::string& body,
                           CppText& text);

}  // namespace peal::emitter
