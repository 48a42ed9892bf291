// SPDX-License-Identifier: Apache-2.0
#include "check/model.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "check/meter.hpp"
#include "check/misuse.hpp"
#include "check/signal_rules.hpp"
#include "check/steps.hpp"
#include "plan/notes.hpp"
#include "plan/signal_value.hpp"
#include "plan/turns.hpp"

namespace peal::checker {

std::uint16_t window_named(const Plan& plan, std::string_view name) {
    const auto at =
        std::find_if(plan.buffers.begin(), plan.buffers.end(), [&](const Buffer& buffer) {
            return buffer.kind == BufferKind::window && buffer.name == name;
        });
    return static_cast<std::uint16_t>(at - plan.buffers.begin());
}

namespace {

std::vector<RankMeaning> by_rank(const CheckStage& stage) {
    std::vector<RankMeaning> ranks(stage.plans->size());
    for (const Held& held : stage.holds) {
        if (held.what == Held::What::fresh) continue;
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            const Plan& plan = (*stage.plans)[rank];
            const std::uint16_t buffer = window_named(plan, held.window);
            ranks[rank].puts.push_back(
                {buffer, 0, plan.buffers[buffer].bytes, held.what == Held::What::input});
        }
    }
    if (!stage.meaning) return ranks;
    for (const auto& [rank, buffer, offset, length] : stage.meaning->staged) {
        ranks[static_cast<std::size_t>(rank)].puts.push_back(
            {buffer, offset, offset + length, true});
    }
    for (const Expected& output : stage.meaning->outputs) {
        ranks[static_cast<std::size_t>(output.rank)].outputs.push_back(&output);
    }
    return ranks;
}

// Sets are met first, then additions.
void bound_values(Model& model) {
    const auto for_each_notify = [&](NotifyOp how, auto&& each) {
        for (const Agent& agent : model.agents) {
            for (const Op& op : agent.ops) {
                if (op.kind == OpKind::notify && op.notify == how) each(model.cells[op.cell], op);
            }
        }
    };
    for_each_notify(NotifyOp::set, [](CellInfo& cell, const Op& op) {
        cell.least = std::min(cell.least, op.value);
        cell.most = std::max(cell.most, op.value);
    });
    for_each_notify(NotifyOp::add, [](CellInfo& cell, const Op& op) {
        (op.value < 0 ? cell.least : cell.most) += op.value;
    });
    for (CellInfo& cell : model.cells) {
        cell.may_overflow = !fits_cell(cell, cell.least) || !fits_cell(cell, cell.most);
    }
}

// Who takes back from each cell, and how many others change it.
void find_takers(Model& model) {
    const auto for_each_notify = [&](auto&& each) {
        for (AgentId agent = 0; agent < model.agents.size(); ++agent) {
            for (const Op& op : model.agents[agent].ops) {
                if (op.kind == OpKind::notify) each(agent, op, model.cells[op.cell]);
            }
        }
    };
    std::vector<bool> is_excluded(model.cells.size(), false);
    for_each_notify([&](AgentId agent, const Op& op, CellInfo& cell) {
        const bool takes = op.notify == NotifyOp::add && op.value < 0;
        const bool is_owner = cell.waiters.size() == 1 && cell.waiters.front() == agent;
        if (takes && is_owner) cell.taker = agent;
        if (op.notify == NotifyOp::set || (takes && !is_owner)) is_excluded[op.cell] = true;
    });
    for (CellId cell = 0; cell < model.cells.size(); ++cell) {
        if (is_excluded[cell]) model.cells[cell].taker = kNone;
    }
    std::vector<AgentId> last(model.cells.size(), kNone);
    for_each_notify([&](AgentId agent, const Op& op, CellInfo& cell) {
        if (model.takes_back(agent, op) || last[op.cell] == agent) return;
        last[op.cell] = agent;
        ++cell.raisers;
    });
}

// A plan that takes turns is another plain plan in each.
void turn_plans(Model& model) {
    const std::vector<CheckStage>& stages = *model.stages;
    const auto takes_turns = [](const CheckStage& stage) {
        return std::any_of(stage.plans->begin(), stage.plans->end(), plan::takes_turns);
    };
    if (std::none_of(stages.begin(), stages.end(), takes_turns)) return;
    model.turn_rounds = rounds_of_turns(stages);
    const std::uint64_t until = std::uint64_t{model.turn_rounds} * stages.size();
    std::vector<std::vector<Plan>> turned(std::min<std::uint64_t>(until, model.calls));
    for (std::uint32_t call = 0; call < turned.size(); ++call) {
        for (std::int32_t rank = 0; rank < model.nranks; ++rank) {
            const Plan& plan = model.plan(call, rank);
            const Step step{static_cast<std::int32_t>(call),
                            static_cast<std::int32_t>(model.stage_of(call)), rank, 0, -1};
            const std::optional<std::uint32_t> turn = turn_of(step, stages);
            turned[call].push_back(turn ? plan::in_turn(plan, *turn) : plan);
        }
    }
    model.turned = std::move(turned);
}

}  // namespace

std::int64_t followed_value(const Value& value, std::int64_t generation) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    const auto result = plan::value_in(value, generation);
    if (!result || *result > kMost || *result < -kMost) {
        misuse("{} + {} * {} is too large for a signal; values up to {} can be followed",
               value.constant, value.per_generation, generation, kMost);
    }
    return *result;
}

const Storage& Model::storage_of_cell(CellId cell) const {
    const auto holds = [&](const Storage& storage) {
        return storage.kind == BufferKind::signal && storage.first_cell <= cell &&
               cell - storage.first_cell < storage.used.size();
    };
    return *std::find_if(storages.begin(), storages.end(), holds);
}

Model build_model(const std::vector<CheckStage>& stages, int calls, MemoryOrder order,
                  Meter& meter) {
    Model model;
    model.stages = &stages;
    model.nranks = static_cast<int>(stages[0].plans->size());
    model.calls = static_cast<std::uint32_t>(calls) * static_cast<std::uint32_t>(stages.size());
    place_memory(model);
    turn_plans(model);
    meter.hold(model.cells.size() * sizeof(CellInfo) + model.regions.size() * sizeof(Region));
    for (const CheckStage& stage : stages) model.meaning_of.push_back(by_rank(stage));
    for (std::int32_t rank = 0; rank < model.nranks; ++rank) {
        write_rank(model, rank, order, meter);
    }
    bound_values(model);
    find_takers(model);
    return model;
}

std::string text_of(const Region& region, std::uint64_t begin, std::uint64_t end) {
    return fmt::format("{}@{}{}", region.name, region.rank, range_text(region, begin, end));
}

std::string range_text(const Region& region, std::uint64_t begin, std::uint64_t end) {
    if (region.shape) {
        const auto text = plan::element_text(*region.shape, region.element, begin, end - begin);
        if (text) return *text;
    }
    return fmt::format("[{}..{})", begin, end);
}

std::string text_of_cell(const Model& model, CellId cell) {
    if (model.cells[cell].role != CellRole::signal) return "flag";
    const Storage& storage = model.storage_of_cell(cell);
    const std::uint64_t number = storage.number_of(cell);
    const std::uint64_t index = number % storage.cells_per_rank();
    const auto rank = static_cast<std::size_t>(number / storage.cells_per_rank());
    const std::vector<std::uint64_t>* shape = storage.shapes[rank];
    return fmt::format("{}{}@{}", storage.name,
                       shape ? plan::index_text(*shape, index) : fmt::format("[{}]", index), rank);
}

}  // namespace peal::checker
