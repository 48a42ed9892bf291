// SPDX-License-Identifier: Apache-2.0
// The parameters of a kernel meet their bindings and become buffers, numbers and tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/effects.hpp"
#include "peal/error.hpp"
#include "plan/specialiser.hpp"

namespace peal {

void Specialiser::bind_parameters(const ir::Program& program) {
    for (const auto& [name, value] : bindings_.integers) define(name, AffineInteger{value, 0, 0});
    for (const auto& [name, value] : bindings_.numbers) define(name, value);

    const ir::UsageMap usage = ir::usage_of(kernel_, program);
    for (const ir::Param& param : kernel_.params) {
        enter(param.var->span);
        if (param.var->type.kind == ir::Type::Kind::table) bind_table(*param.var);
        if (!param.var->type.is_memory()) continue;
        const auto use = usage.find(param.var->name);
        add_buffer(param, use != usage.end() && use->second.as_signal);
    }
    plan_.advance.resize(plan_.buffers.size());
}

std::vector<std::int64_t> Specialiser::shape_of(const ir::Var& param) {
    std::vector<std::int64_t> shape;
    for (const ir::ExprPtr& dimension : param.type.shape) {
        shape.push_back(integer(*dimension));
        if (shape.back() < 0) {
            fail(param.span, fmt::format("'{}' has a negative size: {}", param.name, shape.back()));
        }
    }
    return shape;
}

std::uint64_t Specialiser::product(const ir::Var& param,
                                   const std::vector<std::int64_t>& shape) const {
    std::int64_t total = 1;
    for (const std::int64_t size : shape) {
        total = checked(param.span, ir::BinaryOp::mul, total, size);
    }
    return static_cast<std::uint64_t>(total);
}

void Specialiser::bind_table(const ir::Var& param) {
    const std::vector<std::int64_t> shape = shape_of(param);
    const std::uint64_t expected = product(param, shape);
    const std::vector<std::int64_t>& numbers = bindings_.tables.find(param.name)->second;
    if (numbers.size() != expected) {
        throw Error(Fault::usage,
                    fmt::format("kernel {}: table '{}' has {} numbers, its shape [{}] needs {}",
                                kernel_.name, param.name, numbers.size(), fmt::join(shape, ", "),
                                expected));
    }
    tables_.push_back({shape, numbers});
    define(param.name, &tables_.back());
}

void Specialiser::add_buffer(const ir::Param& param, bool is_signal) {
    const ir::Var& var = *param.var;
    const std::uint64_t count = product(var, shape_of(var));
    Buffer buffer;
    buffer.name = var.name;
    buffer.direction = param.direction;
    buffer.element = var.type.element;
    if (is_signal) {
        buffer.kind = BufferKind::signal;
        buffer.cells = count;
    } else {
        const bool is_window = var.type.kind == ir::Type::Kind::window;
        buffer.kind = is_window ? BufferKind::window : BufferKind::argument;
        const auto size = static_cast<std::int64_t>(bytes_of(buffer.element));
        buffer.bytes = static_cast<std::uint64_t>(
            checked(var.span, ir::BinaryOp::mul, static_cast<std::int64_t>(count), size));
    }
    define(var.name, BufferValue{static_cast<std::uint16_t>(plan_.buffers.size())});
    plan_.buffers.push_back(std::move(buffer));
}

}  // namespace peal
