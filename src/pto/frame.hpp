// SPDX-License-Identifier: Apache-2.0
// What one rank's call is given: memory, and arguments that are tensors in it, addresses or
// numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peal/pto.hpp"
#include "pto/layout.hpp"
#include "tensor.h"

namespace peal::pto {

struct FrameArgument {
    Parameter::Kind kind = Parameter::Kind::scalar;
    std::int64_t value = 0;  // scalar; address: a byte of the rank's part of the domain
    std::size_t domain = 0;  // context, address
    // Tensors: where, and what the descriptor says. The strides are elements, one per dimension.
    std::size_t place = 0;    // in Layout::placed
    std::uint64_t base = 0;   // bytes, to what the descriptor calls its buffer
    std::uint64_t start = 0;  // elements, from there to the first
    DataType type = DataType::FLOAT32;
    std::vector<std::uint64_t> shape = {};
    std::vector<std::uint64_t> strides = {};

    bool is_tensor() const {
        return kind == Parameter::Kind::in || kind == Parameter::Kind::out ||
               kind == Parameter::Kind::inout || kind == Parameter::Kind::window;
    }
};

struct Frame {
    Layout layout;
    std::vector<FrameArgument> arguments;
};

// Each parameter that is memory has its own; all windows are of one domain of all ranks. Throws
// Error(usage) if an address is outside of them.
Frame frame_of(const std::vector<Parameter>& parameters, int nranks);

DataType type_of(Element element);

// Elements from one index to the next, the last dimension contiguous.
std::vector<std::uint64_t> row_major(const std::vector<std::uint64_t>& shape);

// "it is given args[0] in, args[1] nranks": what to compare with what the kernel reads.
std::string given_text(const std::vector<FrameArgument>& arguments);

}  // namespace peal::pto
