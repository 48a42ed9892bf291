// SPDX-License-Identifier: Apache-2.0
#include "ir/effects.hpp"

#include <set>
#include <unordered_set>
#include <utility>

#include "ir/fields.hpp"
#include "peal/ops.hpp"

namespace peal::ir {
namespace {

void note(bool& flag, Span& at, Span span) {
    if (!flag) at = span;
    flag = true;
}

class CallList {
public:
    void operator()(const StmtPtr& stmt) { add_below(*stmt); }
    void operator()(const VarPtr&) {}
    void operator()(const ExprPtr& expr) {
        const bool is_shared = expr.use_count() > 1;
        if (is_leaf(*expr) || (is_shared && !seen_.insert(expr.get()).second)) return;
        if (const auto* call = as<Call>(expr)) calls_.push_back(call);
        add_below(*expr);
    }

    template <class T>
    void add_below(const T& value) {
        for_each_child<Types::skip>(value, *this);
    }

    std::vector<const Call*> take() && { return std::move(calls_); }

private:
    std::vector<const Call*> calls_;
    std::unordered_set<const Expr*> seen_;
};

class Collector {
public:
    explicit Collector(const Program& program) : program_(program) {}

    UsageMap collect(const Kernel& kernel) {
        UsageMap usage;
        if (!open_.insert(kernel.name).second) return usage;
        walk_stmts(kernel.body, [&](const StmtPtr& stmt) {
            if (const auto* call = as<Invoke>(stmt)) add_invoke(*call, usage);
        });
        for (const Call* call : calls_of(kernel.body)) add_call(*call, usage);
        open_.erase(kernel.name);
        return usage;
    }

private:
    void add_call(const Call& call, UsageMap& usage) {
        const OpSpec* spec = find_op(call.op);
        if (!spec) return;
        for (std::size_t i = 0; i < call.operands.size() && i < spec->operands.size(); ++i) {
            const auto* var = as<Var>(call.operands[i]);
            if (!var || !var->type.is_memory()) continue;
            add_effect(usage[var->name], spec->operands[i], call);
        }
    }

    static void add_effect(Usage& use, const OperandSpec& slot, const Call& call) {
        const bool reads = slot.effect == Effect::read || slot.effect == Effect::read_write;
        const bool writes = slot.effect == Effect::write || slot.effect == Effect::read_write;
        if (reads && !use.read) use.reader = call.op;
        if (writes && !use.written) use.writer = call.op;
        if (reads) note(use.read, use.read_at, call.span);
        if (writes) note(use.written, use.written_at, call.span);
        if (slot.kind == OperandKind::signal) {
            note(use.as_signal, use.signal_at, call.span);
        } else {
            note(use.as_data, use.data_at, call.span);
        }
    }

    void add_invoke(const Invoke& call, UsageMap& usage) {
        const Kernel* callee = program_.find(call.kernel);
        if (!callee) return;
        const UsageMap inner = collect(*callee);
        for (std::size_t i = 0; i < call.arguments.size() && i < callee->params.size(); ++i) {
            const auto* var = as<Var>(call.arguments[i]);
            const auto it = inner.find(callee->params[i].var->name);
            if (!var || !var->type.is_memory() || it == inner.end()) continue;
            add_inner(usage[var->name], it->second, call);
        }
    }

    static void add_inner(Usage& use, const Usage& inner, const Invoke& call) {
        if (inner.read && !use.read) use.reader = call.kernel;
        if (inner.written && !use.written) use.writer = call.kernel;
        if (inner.read) note(use.read, use.read_at, call.span);
        if (inner.written) note(use.written, use.written_at, call.span);
        if (inner.as_signal) note(use.as_signal, use.signal_at, call.span);
        if (inner.as_data) note(use.as_data, use.data_at, call.span);
    }

    const Program& program_;
    std::set<std::string> open_;
};

}  // namespace

std::vector<const Call*> calls_of(const Block& block) {
    CallList calls;
    calls.add_below(block);
    return std::move(calls).take();
}

Direction Usage::direction() const {
    if (written) return read ? Direction::inout : Direction::out;
    return Direction::in;
}

UsageMap usage_of(const Kernel& kernel, const Program& program) {
    return Collector(program).collect(kernel);
}

}  // namespace peal::ir
