// SPDX-License-Identifier: Apache-2.0
// Collectives in their short form.
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "language/names.hpp"
#include "language/statements.hpp"

namespace peal::language {
namespace {

using ir::OpSpec;

// Operands by position in the short form: the required ones but the root, which has a default.
std::vector<std::size_t> positional_operands(const OpSpec& spec) {
    std::vector<std::size_t> slots;
    for (std::size_t i = 0; i < spec.operands.size(); ++i) {
        if (!spec.operands[i].optional && spec.operands[i].name != "root") slots.push_back(i);
    }
    return slots;
}

std::vector<const syntax::Expr*> positional_arguments(const syntax::Call& call) {
    std::vector<const syntax::Expr*> values;
    for (const syntax::Argument& argument : call.arguments) {
        if (!argument.name) values.push_back(argument.value.get());
    }
    return values;
}

std::string usage_of(const OpSpec& spec, std::string_view callee) {
    std::vector<std::string_view> names;
    for (const std::size_t slot : positional_operands(spec)) {
        const std::string_view name = spec.operands[slot].name;
        names.push_back(name == "target" ? "data" : name);
    }
    return fmt::format("data = {0}({1}) in place, or out = {0}(input, {1})", callee,
                       fmt::join(names, ", "));
}

void default_root(const OpSpec& spec, std::vector<ir::ExprPtr>& operands, const Span& span) {
    const int root = spec.operand_index("root");
    if (root < 0) return;
    ir::ExprPtr& operand = operands[static_cast<std::size_t>(root)];
    if (!operand) operand = ir::integer(0, span);
}

}  // namespace

// data = allreduce(data, sig, op=sum) | out = allreduce(inp, data, sig, op=sum)
void Statements::assign_collective(const syntax::Expr& target, const syntax::Call& call,
                                   const Span& span) {
    const OpSpec& spec = *collective_named(call.callee.text);
    if (spec.name == ir::ops::kBarrier) {
        report_.fail(span, "'barrier' gives no value", "write barrier(sig) as a statement");
    }
    const std::vector<std::size_t> slots = positional_operands(spec);
    std::vector<const syntax::Expr*> values = positional_arguments(call);
    const bool in_place = values.size() == slots.size();
    if (!in_place && values.size() != slots.size() + 1) {
        report_.fail(
            call.callee.span,
            fmt::format("'{}' takes {} operands in place or {} from input to output, found {}",
                        call.callee.text, slots.size(), slots.size() + 1, values.size()),
            usage_of(spec, call.callee.text));
    }
    std::vector<ir::ExprPtr> operands(spec.operands.size());
    const auto fill = [&](std::size_t slot, const syntax::Expr& value) {
        operands[slot] = exprs_.operand(value, spec.operands[slot], call.callee.text);
    };
    if (!in_place) {
        fill(static_cast<std::size_t>(spec.operand_index("input")), *values.front());
        fill(static_cast<std::size_t>(spec.operand_index("output")), target);
        values.erase(values.begin());
    }
    for (std::size_t i = 0; i < slots.size(); ++i) fill(slots[i], *values[i]);
    if (in_place && !ir::equal(exprs_.operand(target, spec.operands.front(), call.callee.text),
                               operands.front())) {
        report_.fail(
            target.span,
            fmt::format("in place, '{}' has the same window on both sides", call.callee.text),
            usage_of(spec, call.callee.text));
    }
    std::vector<ir::Attribute> attributes;
    for (const syntax::Argument& argument : call.arguments) {
        if (argument.name) exprs_.named_argument(argument, spec, operands, attributes);
    }
    default_root(spec, operands, span);
    emit_call(exprs_.make(spec.name, std::move(operands), std::move(attributes), span), span);
}

// barrier(sig, recipe=dissemination)
void Statements::barrier(const syntax::Call& call, const Span& span) {
    const OpSpec& spec = *collective_named(call.callee.text);
    std::vector<ir::ExprPtr> operands(spec.operands.size());
    std::vector<ir::Attribute> attributes;
    for (const syntax::Argument& argument : call.arguments) {
        if (argument.name) {
            exprs_.named_argument(argument, spec, operands, attributes);
        } else if (operands.front()) {
            report_.fail(argument.value->span, "'barrier' takes one operand: the signal");
        } else {
            operands.front() =
                exprs_.operand(*argument.value, spec.operands.front(), call.callee.text);
        }
    }
    emit_call(exprs_.make(spec.name, std::move(operands), std::move(attributes), span), span);
}

}  // namespace peal::language
