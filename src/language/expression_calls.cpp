// SPDX-License-Identifier: Apache-2.0
// Ops called by name: arguments against the registry.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "language/expressions.hpp"
#include "language/names.hpp"
#include "peal/error.hpp"

namespace peal::language {
namespace {

using ir::OperandKind;
using ir::OpSpec;

std::vector<std::string_view> op_names() {
    std::vector<std::string_view> names;
    for (const OpSpec& spec : ir::all_ops()) names.push_back(spec.name);
    return names;
}

std::vector<std::string_view> argument_names(const OpSpec& spec) {
    std::vector<std::string_view> names;
    for (const ir::OperandSpec& slot : spec.operands) names.push_back(slot.name);
    for (const ir::AttributeSpec& slot : spec.attributes) names.push_back(slot.name);
    return names;
}

std::vector<std::string_view> required_operands(const OpSpec& spec) {
    std::vector<std::string_view> names;
    for (const ir::OperandSpec& slot : spec.operands) {
        if (!slot.optional) names.push_back(slot.name);
    }
    return names;
}

bool takes_parameter(OperandKind kind) {
    return kind == OperandKind::memory || kind == OperandKind::window ||
           kind == OperandKind::signal || kind == OperandKind::table;
}

}  // namespace

ir::CallPtr Expressions::make(std::string_view op, std::vector<ir::ExprPtr> operands,
                              std::vector<ir::Attribute> attributes, const Span& span) {
    try {
        return ir::make_call(op, std::move(operands), std::move(attributes), span);
    } catch (const Error& error) {
        report_.fail(span, error.what());
    }
}

ir::CallPtr Expressions::op_call(const syntax::Call& call, const Span& span) {
    const OpSpec* spec = ir::find_op(current_word(call.callee.text));
    if (!spec) {
        report_.fail(call.callee.span, fmt::format("there is no op '{}'", call.callee.text),
                     did_you_mean(call.callee.text, op_names()));
    }
    const std::vector<std::string_view> required = required_operands(*spec);
    std::vector<ir::ExprPtr> operands(spec->operands.size());
    std::vector<ir::Attribute> attributes;
    std::size_t position = 0;
    for (const syntax::Argument& argument : call.arguments) {
        if (argument.name) {
            named_argument(argument, *spec, operands, attributes);
        } else if (position == required.size()) {
            report_.fail(
                argument.value->span,
                fmt::format("{} takes {} operand{} by position: ({})", spec->name, required.size(),
                            required.size() == 1 ? "" : "s", fmt::join(required, ", ")),
                "optional operands and attributes are given by name, as in op=sum");
        } else {
            operands[position] = operand(*argument.value, spec->operands[position], spec->name);
            ++position;
        }
    }
    return make(spec->name, std::move(operands), std::move(attributes), span);
}

ir::ExprPtr Expressions::operand(const syntax::Expr& expr, const ir::OperandSpec& slot,
                                 std::string_view who) {
    if (!takes_parameter(slot.kind)) {
        return slot.kind == OperandKind::index ? integer(expr) : value(expr);
    }
    if (ir::VarPtr parameter = whole_parameter(expr)) return parameter;
    if (is_memory(expr)) {
        report_.fail(
            expr.span,
            fmt::format("'{}' of {} is a whole parameter, not a part of one", slot.name, who),
            fmt::format("write '{}'", root_name(expr)->text));
    }
    return value(expr);
}

void Expressions::named_argument(const syntax::Argument& argument, const OpSpec& spec,
                                 std::vector<ir::ExprPtr>& operands,
                                 std::vector<ir::Attribute>& attributes) {
    const syntax::Identifier name{std::string(current_word(argument.name->text)),
                                  argument.name->span};
    const int slot = spec.operand_index(name.text);
    const bool given_before =
        slot >= 0 ? operands[static_cast<std::size_t>(slot)] != nullptr
                  : std::any_of(attributes.begin(), attributes.end(),
                                [&](const ir::Attribute& a) { return a.name == name.text; });
    if (given_before) {
        report_.fail(name.span, fmt::format("'{}' is given twice", name.text));
    }
    if (slot < 0) {
        attributes.push_back(attribute(name, *argument.value, spec));
        return;
    }
    const auto index = static_cast<std::size_t>(slot);
    operands[index] = operand(*argument.value, spec.operands[index], spec.name);
}

ir::Attribute Expressions::attribute(const syntax::Identifier& name, const syntax::Expr& value,
                                     const OpSpec& spec) {
    const bool known =
        std::any_of(spec.attributes.begin(), spec.attributes.end(),
                    [&](const ir::AttributeSpec& slot) { return slot.name == name.text; });
    if (!known) {
        report_.fail(name.span,
                     fmt::format("{} has no operand or attribute '{}'", spec.name, name.text),
                     did_you_mean(name.text, argument_names(spec)));
    }
    if (const auto* word = syntax::as<syntax::Name>(value)) return {name.text, word->text};
    if (const auto* number = syntax::as<syntax::Integer>(value)) {
        return {name.text, number->value};
    }
    report_.fail(value.span, fmt::format("attribute '{}' takes a word or an integer", name.text));
}

}  // namespace peal::language
