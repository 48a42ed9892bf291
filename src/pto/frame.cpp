// SPDX-License-Identifier: Apache-2.0
#include "pto/frame.hpp"

#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/error.hpp"

namespace peal::pto {
namespace {

std::optional<Direction> direction_of(Parameter::Kind kind) {
    switch (kind) {
        case Parameter::Kind::in: return Direction::in;
        case Parameter::Kind::out: return Direction::out;
        case Parameter::Kind::inout: return Direction::inout;
        default: return std::nullopt;
    }
}

void expect_within(const FrameArgument& address, std::uint64_t bytes) {
    if (address.value >= 0 && static_cast<std::uint64_t>(address.value) < bytes) return;
    throw Error(Fault::usage,
                fmt::format("--arg address:{}: expected a byte of the windows, which have {} "
                            "bytes on each rank",
                            address.value, bytes));
}

}  // namespace

std::vector<std::uint64_t> row_major(const std::vector<std::uint64_t>& shape) {
    std::vector<std::uint64_t> strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
}

DataType type_of(Element element) {
    switch (element) {
        case Element::f16: return DataType::FLOAT16;
        case Element::bf16: return DataType::BFLOAT16;
        case Element::i32: return DataType::INT32;
        case Element::i16: return DataType::INT16;
        case Element::i8: return DataType::INT8;
        case Element::u8: return DataType::UINT8;
        case Element::i64: return DataType::INT64;
        default: return DataType::FLOAT32;
    }
}

Frame frame_of(const std::vector<Parameter>& parameters, int nranks) {
    Frame frame;
    WindowDomain all;
    all.ranks.resize(static_cast<std::size_t>(nranks));
    std::iota(all.ranks.begin(), all.ranks.end(), 0);
    frame.layout.domains.push_back(std::move(all));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Parameter& parameter = parameters[i];
        const std::string called = fmt::format("args[{}]", i);
        const std::uint64_t bytes = parameter.count * bytes_of(parameter.element);
        FrameArgument argument;
        argument.kind = parameter.kind;
        argument.value = parameter.value;
        argument.type = type_of(parameter.element);
        argument.shape = parameter.shape.empty() ? std::vector{parameter.count} : parameter.shape;
        argument.strides = row_major(argument.shape);
        if (const auto direction = direction_of(parameter.kind)) {
            argument.place = frame.layout.add_private(*direction, parameter.element, bytes, called);
        } else if (parameter.kind == Parameter::Kind::window) {
            argument.place =
                frame.layout.add_window(0, parameter.element, bytes,
                                        parameter.signal_rows * parameter.signal_columns, called);
        }
        frame.arguments.push_back(std::move(argument));
    }
    for (const FrameArgument& argument : frame.arguments) {
        if (argument.kind != Parameter::Kind::address) continue;
        expect_within(argument, frame.layout.domains[0].bytes);
    }
    return frame;
}

std::string given_text(const std::vector<FrameArgument>& arguments) {
    if (arguments.empty()) return "it is given no arguments";
    std::vector<std::string> words;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        words.push_back(fmt::format("args[{}] {}", i, name(arguments[i].kind)));
    }
    return fmt::format("it is given {}", fmt::join(words, ", "));
}

}  // namespace peal::pto
