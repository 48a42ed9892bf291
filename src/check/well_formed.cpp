// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include <fmt/format.h>

#include "check/misuse.hpp"
#include "check/model.hpp"
#include "check/static_rules.hpp"

namespace peal::checker {
namespace {

std::string windows_text(const Plan& plan) {
    std::string text;
    for (const Buffer& buffer : plan.buffers) {
        if (buffer.kind != BufferKind::window) continue;
        text += fmt::format("{}{}", text.empty() ? "it has " : ", ", buffer.name);
    }
    return text.empty() ? "it has none" : text;
}

void require_plans(const CheckStage& stage, std::size_t number) {
    if (!stage.plans || stage.plans->empty()) misuse("stage {} has no plans", number);
    const std::vector<Plan>& plans = *stage.plans;
    if (!stage.memory.empty() && stage.memory.size() != plans[0].buffers.size()) {
        misuse("stage {}: {} memory names for {} buffers", number, stage.memory.size(),
               plans[0].buffers.size());
    }
}

void require_meaning(const CheckStage& stage, std::size_t number) {
    const std::vector<Plan>& plans = *stage.plans;
    const auto require = [&](std::int32_t rank, std::uint16_t buffer) {
        if (rank < 0 || rank >= static_cast<std::int32_t>(plans.size()) ||
            buffer >= plans[0].buffers.size() ||
            plans[0].buffers[buffer].kind == BufferKind::signal) {
            misuse("stage {}: its meaning speaks of buffer {} of rank {}, which is no data", number,
                   buffer, rank);
        }
    };
    for (const Staged& staged : stage.meaning->staged) require(staged.rank, staged.buffer);
    for (const Expected& output : stage.meaning->outputs) {
        require(output.rank, output.buffer);
        if (!output.of || output.of->empty()) {
            misuse("stage {}: an output of its meaning has no contributions", number);
        }
        if (output.length % bytes_of(output.element) != 0) {
            misuse(
                "stage {}: an output of its meaning has {} bytes, no whole number of {} elements",
                number, output.length, name(output.element));
        }
    }
    std::set<const void*> seen;
    for (const Expected& output : stage.meaning->outputs) {
        if (!seen.insert(output.of.get()).second) continue;
        for (const Contribution& part : *output.of) require(part.rank, part.buffer);
    }
}

void require_holds(const CheckStage& stage, std::size_t number) {
    const std::vector<Plan>& plans = *stage.plans;
    std::set<std::string> seen;
    for (const Held& held : stage.holds) {
        for (const Plan& plan : plans) {
            if (window_named(plan, held.window) == plan.buffers.size()) {
                misuse("stage {}: '{}' should hold data, but kernel {} has no such window: {}",
                       number, held.window, plan.kernel, windows_text(plan));
            }
        }
        if (!seen.insert(held.window).second) {
            misuse("stage {}: what '{}' holds is said twice", number, held.window);
        }
    }
}

}  // namespace

void require_well_formed(const std::vector<CheckStage>& stages) {
    if (stages.empty()) misuse("there is nothing to check: no stages");
    for (std::size_t i = 0; i < stages.size(); ++i) {
        require_plans(stages[i], i);
        if (stages[i].plans->size() != stages[0].plans->size()) {
            misuse("stages 0 and {} have {} and {} ranks", i, stages[0].plans->size(),
                   stages[i].plans->size());
        }
        require_holds(stages[i], i);
        if (stages[i].meaning) require_meaning(stages[i], i);
    }
}

}  // namespace peal::checker
