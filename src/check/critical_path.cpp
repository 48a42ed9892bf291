// SPDX-License-Identifier: Apache-2.0
#include "check/phases.hpp"

namespace peal::checker {
namespace {

// All agents take a step at a time; what one does in a step, the others see in the next.
class LockStep {
public:
    explicit LockStep(const Model& model)
        : model_(model), values_(model.cells.size(), 0), next_(model.agents.size(), 0) {}

    std::uint64_t run() {
        std::uint64_t steps = 0;
        while (!is_over()) {
            if (!tick()) return 0;
            ++steps;
        }
        return steps;
    }

private:
    bool is_over() const {
        for (AgentId agent = 0; agent < next_.size(); ++agent) {
            if (next_[agent] < model_.agents[agent].ops.size()) return false;
        }
        return true;
    }

    bool tick() {
        bool moved = false;
        changes_.clear();
        for (AgentId agent = 0; agent < next_.size(); ++agent) moved |= step(agent);
        for (const Op* notify : changes_) carry_out(*notify);
        return moved;
    }

    // What only keeps the order of pipes, or stands for a cache line or a view, takes no time.
    bool step(AgentId agent) {
        const std::vector<Op>& ops = model_.agents[agent].ops;
        const std::uint32_t first = next_[agent];
        while (next_[agent] < ops.size()) {
            const Op& op = ops[next_[agent]];
            if (op.kind == OpKind::wait && !compares(values_[op.cell], op.compare, op.value)) break;
            if (op.kind == OpKind::notify) changes_.push_back(&op);
            ++next_[agent];
            const bool takes_time = op.origin == Origin::stages ||
                                    op.origin == Origin::instruction ||
                                    op.origin == Origin::consumes;
            if (takes_time) break;
        }
        return next_[agent] != first;
    }

    void carry_out(const Op& notify) {
        std::int64_t& value = values_[notify.cell];
        value = notify.notify == NotifyOp::set ? notify.value : value + notify.value;
    }

    const Model& model_;
    std::vector<std::int64_t> values_;
    std::vector<std::uint32_t> next_;
    std::vector<const Op*> changes_;
};

}  // namespace

std::uint64_t critical_path(const Model& model) { return LockStep(model).run(); }

}  // namespace peal::checker
