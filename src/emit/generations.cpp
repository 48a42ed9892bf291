// SPDX-License-Identifier: Apache-2.0
#include "emit/generations.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/fields.hpp"
#include "peal/ops.hpp"

namespace peal::emit {
namespace {

using namespace ir;  // NOLINT: reads the IR

bool asks(const ExprPtr& expr, const std::string& signal) {
    bool found = false;
    walk_exprs<Types::skip>(std::vector<ExprPtr>{expr}, [&](const ExprPtr& each) {
        const auto* call = as<Call>(each);
        found = found || (call && call->op == ops::kGeneration &&
                          as<Var>(operand(*call, "signal"))->name == signal);
    });
    return found;
}

bool mentions(const ExprPtr& expr, const std::string& name) {
    bool found = false;
    walk_exprs<Types::skip>(std::vector<ExprPtr>{expr}, [&](const ExprPtr& each) {
        const auto* var = as<Var>(each);
        found = found || (var && var->name == name);
    });
    return found;
}

bool any_use(const Steps& steps, const std::string& signal) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const Step& step) { return uses_generation(step, signal); });
}

bool any_advance(const Step& step, const std::string& signal) {
    bool found = false;
    for_each_within(step, [&](const Step& each) {
        const auto* advance = std::get_if<AdvanceGeneration>(&each.what);
        found = found || (advance && advance->signal->name == signal);
    });
    return found;
}

// Adds up what the steps advance the generation by.
class Total {
public:
    Total(const std::string& signal, CppText& text, const Resolve& resolve)
        : signal_(signal), text_(text), resolve_(resolve) {}

    std::string of(const Steps& steps) {
        std::vector<std::string> parts;
        for (const Step& step : steps) {
            if (!any_advance(step, signal_)) continue;
            if (const auto* advance = std::get_if<AdvanceGeneration>(&step.what)) {
                parts.push_back(text_.expr(resolve_(advance->by)));
            } else if (const auto* branch = std::get_if<Branch>(&step.what)) {
                parts.push_back(
                    fmt::format("({} ? {} : {})", text_.expr(resolve_(branch->condition)),
                                or_zero(branch->then_steps), or_zero(branch->else_steps)));
            } else if (const auto* loop = std::get_if<Loop>(&step.what)) {
                parts.push_back(of_loop(*loop));
            }
        }
        return fmt::format("{}", fmt::join(parts, " + "));
    }

private:
    std::string or_zero(const Steps& steps) {
        const std::string text = of(steps);
        return text.empty() ? "0" : text;
    }

    std::string of_loop(const Loop& loop) {
        const ExprPtr lo = resolve_(loop.lo);
        const ExprPtr hi = resolve_(loop.hi);
        bool same = true;  // in each round
        for_each_step(loop.body, [&](const Step& step) {
            const auto* advance = std::get_if<AdvanceGeneration>(&step.what);
            if (advance && mentions(advance->by, loop.counter->name)) same = false;
            const auto* branch = std::get_if<Branch>(&step.what);
            if (branch && mentions(branch->condition, loop.counter->name)) same = false;
        });
        if (same) {
            const std::string each = of(loop.body);
            const bool plain = each.find(' ') == std::string::npos;
            return rounds_text(lo, hi) + (plain ? " * " + each : " * (" + each + ")");
        }
        const std::string total = text_.fresh("total");
        const std::string counter = text_.declare(loop.counter->name);
        return fmt::format(
            "[&] {{ int64_t {0} = 0; for (int64_t {1} = {2}; {1} < {3}; ++{1}) {0} += {4}; "
            "return {0}; }}()",
            total, counter, text_.expr(lo), text_.comparand(hi), of(loop.body));
    }

    std::string rounds_text(const ExprPtr& lo, const ExprPtr& hi) {
        const auto* first = as<IntConst>(lo);
        const auto* end = as<IntConst>(hi);
        if (first && end)
            return std::to_string(std::max<std::int64_t>(end->value - first->value, 0));
        const bool from_zero = first && first->value == 0;
        const ExprPtr rounds = from_zero ? hi : binary(BinaryOp::sub, hi, lo);
        if (text_.facts().not_negative(rounds)) return text_.factor(rounds);
        return fmt::format("Max({}, 0)", text_.expr(rounds));
    }

    const std::string& signal_;
    CppText& text_;
    const Resolve& resolve_;
};

}  // namespace

bool uses_generation(const Step& step, const std::string& signal) {
    bool found = false;
    const auto look = [&](const ExprPtr& expr) { found = found || (expr && asks(expr, signal)); };
    for_each_within(step, [&](const Step& each) {
        if (const auto* notify = std::get_if<NotifyCell>(&each.what)) look(notify->value);
        if (const auto* wait = std::get_if<WaitForCell>(&each.what)) look(wait->value);
        if (const auto* define = std::get_if<Define>(&each.what)) look(define->value);
        if (const auto* assign = std::get_if<Assign>(&each.what)) look(assign->value);
    });
    return found;
}

bool moves_on(const Steps& steps, const std::string& signal) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!any_advance(steps[i], signal)) continue;
        const Steps rest(steps.begin() + static_cast<std::ptrdiff_t>(i) + 1, steps.end());
        if (any_use(rest, signal)) return true;
        if (const auto* loop = std::get_if<Loop>(&steps[i].what)) {
            if (any_use(loop->body, signal)) return true;
        }
        if (const auto* branch = std::get_if<Branch>(&steps[i].what)) {
            if (moves_on(branch->then_steps, signal)) return true;
            if (moves_on(branch->else_steps, signal)) return true;
        }
    }
    return false;
}

std::string total_advance(const Steps& steps, const std::string& signal, CppText& text,
                          const Resolve& resolve) {
    return Total(signal, text, resolve).of(steps);
}

}  // namespace peal::emit
