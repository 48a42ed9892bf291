// SPDX-License-Identifier: Apache-2.0
#include "check/phases.hpp"

#include <set>

#include <fmt/format.h>

namespace peal::checker {
namespace {

const Value& value_at(const Model& model, Event event) {
    const Action& action = model.instruction(event).action;
    if (const auto* notify = std::get_if<Notify>(&action)) return notify->value;
    return std::get<Wait>(action).value;
}

class DriftSearch {
public:
    explicit DriftSearch(const Model& model) : model_(model), waits_(model.cells.size()) {}

    std::vector<Finding> run() && {
        for_each_signal(OpKind::wait, [&](Event event, std::int64_t growth) {
            Grows& first = waits_[model_.op(event).cell];
            if (!first.known) first = {event, growth, true};
            compare(first, event, growth);
        });
        for_each_signal(OpKind::notify, [&](Event event, std::int64_t growth) {
            const Op& op = model_.op(event);
            const Grows& wait = waits_[op.cell];
            if (!wait.known) return;
            // What is added is the same in every round; that it adds up is seen at the end.
            if (op.notify == NotifyOp::set) {
                compare(wait, event, growth);
            } else if (growth != 0) {
                add(op.cell, wait.event, event,
                    fmt::format("{} adds {} more to {} in each round of calls: the calls drift "
                                "apart",
                                text_of(model_, event), growth, text_of_cell(model_, op.cell)));
            }
        });
        return std::move(found_);
    }

private:
    struct Grows {
        Event event;
        std::int64_t by = 0;
        bool known = false;
    };

    // Calls each(event, growth) for the signal ops of the first round of calls.
    template <class Each>
    void for_each_signal(OpKind kind, Each&& each) {
        const auto round = static_cast<std::uint32_t>(model_.stages->size());
        for (AgentId agent = 0; agent < model_.agents.size(); ++agent) {
            const std::vector<Op>& ops = model_.agents[agent].ops;
            for (std::uint32_t i = 0; i < ops.size() && ops[i].call < round; ++i) {
                if (ops[i].kind != kind || model_.cells[ops[i].cell].role != CellRole::signal) {
                    continue;
                }
                const Event event{agent, i};
                const std::int64_t advance = model_.storage_of_cell(ops[i].cell).generation[round];
                each(event, value_at(model_, event).per_generation * advance);
            }
        }
    }

    void compare(const Grows& wait, Event other, std::int64_t growth) {
        if (growth == wait.by) return;
        const CellId cell = model_.op(other).cell;
        add(cell, wait.event, other,
            fmt::format("{} counts on {} to grow by {} in each round of calls, {} on {}: the calls "
                        "drift apart",
                        text_of(model_, wait.event), text_of_cell(model_, cell), wait.by,
                        text_of(model_, other), growth));
    }

    void add(CellId cell, Event wait, Event other, std::string message) {
        Finding finding;
        finding.kind = ViolationKind::signal_state;
        finding.events = {wait, other};
        finding.memory = text_of_cell(model_, cell);
        finding.message = std::move(message);
        if (seen_.insert(sort_of(model_, finding.kind, finding.events)).second) {
            found_.push_back(std::move(finding));
        }
    }

    const Model& model_;
    std::vector<Grows> waits_;  // by cell, the first
    std::set<std::vector<std::uint64_t>> seen_;
    std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> find_drift(const Model& model) {
    const bool is_repeated = model.calls > model.stages->size();
    return is_repeated ? DriftSearch(model).run() : std::vector<Finding>{};
}

}  // namespace peal::checker
