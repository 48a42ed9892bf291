// SPDX-License-Identifier: Apache-2.0
// The parameters of a kernel meet their bindings and become buffers, numbers and tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/error.hpp"
#include "plan/specialiser.hpp"

namespace peal::plan {

void Specialiser::bind_parameters() {
    const auto bind_integer = [&](std::string_view name, Slot slot) {
        define(slot, AffineInteger{bindings_.integers.find(name)->second, 0, 0});
    };
    for (const auto& symbol : kernel_.symbols) bind_integer(symbol.name, symbol.slot);
    for (const Parameter& parameter : kernel_.parameters) {
        const ir::Var& var = parameter.var();
        if (var.type.kind != ir::Type::Kind::scalar) continue;
        if (var.type.is_integer()) {
            bind_integer(var.name, parameter.slot);
        } else {
            define(parameter.slot, bindings_.numbers.find(var.name)->second);
        }
    }
    plan_.buffers.reserve(kernel_.parameters.size());
    for (const Parameter& parameter : kernel_.parameters) {
        const ir::Var& var = parameter.var();
        enter(var.span);
        if (var.type.kind == ir::Type::Kind::table) bind_table(parameter);
        if (var.type.is_memory()) add_buffer(parameter);
    }
    plan_.advance.resize(plan_.buffers.size());
}

std::vector<std::int64_t> Specialiser::shape_of(const Parameter& parameter) {
    std::vector<std::int64_t> shape;
    shape.reserve(parameter.shape.size());
    for (const Operand dimension : parameter.shape) {
        shape.push_back(integer(*dimension));
        if (shape.back() < 0) {
            fail(parameter.var().span,
                 fmt::format("'{}' has a negative size: {}", parameter.var().name, shape.back()));
        }
    }
    return shape;
}

std::uint64_t Specialiser::product(const Parameter& parameter,
                                   const std::vector<std::int64_t>& shape) const {
    std::int64_t total = 1;
    for (const std::int64_t size : shape) {
        total = checked(parameter.var().span, ir::BinaryOp::mul, total, size);
    }
    return static_cast<std::uint64_t>(total);
}

void Specialiser::bind_table(const Parameter& parameter) {
    const std::vector<std::int64_t> shape = shape_of(parameter);
    const std::uint64_t expected = product(parameter, shape);
    const std::string& name = parameter.var().name;
    const std::vector<std::int64_t>& numbers = bindings_.tables.find(name)->second;
    if (numbers.size() != expected) {
        throw Error(Fault::usage,
                    fmt::format("kernel {}: table '{}' has {} numbers, its shape [{}] needs {}",
                                kernel_.origin->name, name, numbers.size(), fmt::join(shape, ", "),
                                expected));
    }
    tables_.push_back({shape, numbers});
    define(parameter.slot, &tables_.back());
}

void Specialiser::add_buffer(const Parameter& parameter) {
    const ir::Var& var = parameter.var();
    const std::vector<std::int64_t> shape = shape_of(parameter);
    const std::uint64_t count = product(parameter, shape);
    if (notes_) notes_->shapes.emplace_back(shape.begin(), shape.end());
    Buffer buffer;
    buffer.name = var.name;
    buffer.direction = parameter.origin->direction;
    buffer.element = var.type.element;
    if (parameter.is_signal) {
        buffer.kind = BufferKind::signal;
        buffer.cells = count;
    } else {
        const bool is_window = var.type.kind == ir::Type::Kind::window;
        buffer.kind = is_window ? BufferKind::window : BufferKind::argument;
        const auto size = static_cast<std::int64_t>(bytes_of(buffer.element));
        buffer.bytes = static_cast<std::uint64_t>(
            checked(var.span, ir::BinaryOp::mul, static_cast<std::int64_t>(count), size));
    }
    define(parameter.slot, BufferValue{static_cast<std::uint16_t>(plan_.buffers.size())});
    plan_.buffers.push_back(std::move(buffer));
}

}  // namespace peal::plan
