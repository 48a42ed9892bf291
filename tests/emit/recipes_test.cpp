// SPDX-License-Identifier: Apache-2.0
// Every built-in recipe that devices can do: emitted, compiled, traced and proved; it computes the
// terms of the plans it came from; and no flag or barrier in it can be left out.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "check/call_sequence.hpp"
#include "emit/terms.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/pto.hpp"
#include "pto/kernel_file.hpp"

namespace peal::pto {
namespace recipes_test {

struct Case {
    CollectiveKind kind;
    std::string recipe;
    Device device;
};

std::ostream& operator<<(std::ostream& out, const Case& the) {
    return out << name(the.kind) << " " << the.recipe << " " << name(the.device);
}

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const CollectiveKind kind : kCollectives) {
        if (facts_of(kind).is_counted()) continue;  // its table of counts stays outside
        for (const Recipe& recipe : recipes(kind)) {
            if (recipe.has_lanes) continue;  // what is emitted has one
            list.push_back({kind, std::string(recipe.name), Device::a2a3});
            // Only where two tiles are loaded at once do the devices differ.
            if (has_reduction(kind)) list.push_back({kind, std::string(recipe.name), Device::a5});
        }
    }
    return list;
}

// One element, an odd number, and more than tile memory holds several times over, in all or for
// each rank.
struct Shape {
    int nranks;
    std::uint64_t count;
};
constexpr Shape kShapes[] = {{1, 257},    {1, 100003}, {2, 1}, {2, 257}, {2, 400001}, {3, 257},
                             {3, 400001}, {4, 37},     {5, 1}, {5, 130}, {8, 257}};

bool may_reuse_at_once(const Collective& collective) {
    return reuse_of(collective.kind, collective.recipe) == Reuse::at_once;
}

// What a rank may do next with windows that may be used again at once: overwrite its own.
std::vector<Plan> overwriting(const std::vector<Plan>& plans) {
    std::vector<Plan> result = plans;
    for (Plan& plan : result) {
        plan.kernel = "overwrite";
        plan.instructions.clear();
        for (std::uint16_t b = 0; b < plan.buffers.size(); ++b) {
            const Buffer& buffer = plan.buffers[b];
            plan.advance[b] = 0;
            if (buffer.kind != BufferKind::window || buffer.bytes == 0) continue;
            const Range all{b, plan.rank, 0, buffer.bytes};
            plan.instructions.push_back({Map{MapOp::fill, Element::f32, 0, all, {}}});
        }
    }
    return result;
}

CheckReport prove(const Collective& collective, const std::vector<Plan>& plans, Device device) {
    checker::CallSequence calls;
    calls.add(collective, plans);
    if (may_reuse_at_once(collective)) calls.add(overwriting(plans), std::nullopt);
    CheckOptions options;
    options.device = rules_of(device);
    options.strict_loads = true;
    options.order = MemoryOrder::fenced;  // then also under the other
    return check(calls.stages(), options);
}

bool is_sync(const Instruction& instruction) {
    return std::holds_alternative<SetFlag>(instruction.action) ||
           std::holds_alternative<WaitFlag>(instruction.action) ||
           std::holds_alternative<PipeBarrier>(instruction.action);
}

// Lines of flags that belong together: the k-th wait of a flag takes its k-th set. A barrier
// belongs to nobody.
class FlagLines {
public:
    void add(const Plan& plan) {
        std::map<std::tuple<Pipe, Pipe, int>, std::pair<std::vector<std::uint32_t>, std::size_t>>
            flags;
        for (const Instruction& instruction : plan.instructions) {
            if (!is_sync(instruction)) continue;
            leader(instruction.line);
            if (const auto* set = std::get_if<SetFlag>(&instruction.action)) {
                flags[{set->from, set->to, set->event}].first.push_back(instruction.line);
            } else if (const auto* wait = std::get_if<WaitFlag>(&instruction.action)) {
                auto& [lines, taken] = flags[{wait->from, wait->to, wait->event}];
                leaders_[leader(instruction.line)] = leader(lines.at(taken++));
            }
        }
    }

    std::vector<std::set<std::uint32_t>> groups() {
        std::map<std::uint32_t, std::set<std::uint32_t>> groups;
        const auto leaders = leaders_;
        for (const auto& [line, ignored] : leaders) groups[leader(line)].insert(line);
        std::vector<std::set<std::uint32_t>> list;
        for (auto& [ignored, lines] : groups) list.push_back(std::move(lines));
        return list;
    }

private:
    std::uint32_t leader(std::uint32_t line) {
        const std::uint32_t next = leaders_.try_emplace(line, line).first->second;
        return next == line ? line : leader(next);
    }
    std::map<std::uint32_t, std::uint32_t> leaders_;
};

class EmittedRecipe : public ::testing::TestWithParam<Case> {
protected:
    EmittedRecipe() {
        const Emitted emitted = emit(program_, name(GetParam().kind), GetParam().device);
        kernel_ = Kernel::compile(folder_.write("kernel.cpp", emitted.kernel));
    }

    Collective collective(const Shape& shape) const {
        Collective result;
        result.kind = GetParam().kind;
        result.recipe = GetParam().recipe;
        result.count = shape.count;
        // Nobody keeps several windows for it.
        if (!may_reuse_at_once(result)) result.sets = 2;
        result.root = shape.nranks / 2;
        // Slots of several tiles, for what is staged in slots.
        const auto ranks = static_cast<std::uint64_t>(shape.nranks);
        if (shape.count > 1000) result.stage_bytes = ranks * 4 * 280'000;
        return result;
    }

    std::vector<Plan> traced(const Collective& collective, int nranks) const {
        const auto parameters =
            parameters_of(program_, name(collective.kind), bindings_of(collective), nranks);
        return trace(*kernel_, parameters, nranks);
    }

    KernelFolder folder_;
    ir::Program program_ = program_of(collective({1, 1}));
    std::optional<Kernel> kernel_;
};

struct Proved {
    Collective collective;
    std::vector<Plan> plans;
};

void expect_each_flag_needed(const std::vector<Proved>& all, Device device) {
    FlagLines lines;
    for (const Proved& each : all) {
        for (const Plan& plan : each.plans) lines.add(plan);
    }
    for (const std::set<std::uint32_t>& group : lines.groups()) {
        const auto is_in_group = [&](const Instruction& instruction) {
            return is_sync(instruction) && group.contains(instruction.line);
        };
        bool found = false;
        for (auto it = all.begin(); it != all.end() && !found; ++it) {
            std::vector<Plan> plans = it->plans;
            std::size_t removed = 0;
            for (Plan& plan : plans) removed += std::erase_if(plan.instructions, is_in_group);
            found =
                removed != 0 && prove(it->collective, plans, device).verdict == Verdict::violated;
        }
        EXPECT_TRUE(found) << "nothing is wrong without line " << *group.begin();
    }
}

// One fence may stand in for another, but not for all of them.
void expect_fences_needed(const std::vector<Proved>& all, Device device) {
    bool has_fences = false, found = false;
    for (auto it = all.begin(); it != all.end() && !found; ++it) {
        std::vector<Plan> plans = it->plans;
        std::size_t removed = 0;
        for (Plan& plan : plans) {
            removed += std::erase_if(plan.instructions, [](const Instruction& instruction) {
                return std::holds_alternative<Fence>(instruction.action);
            });
        }
        has_fences |= removed != 0;
        found = removed != 0 && prove(it->collective, plans, device).verdict == Verdict::violated;
    }
    EXPECT_EQ(found, has_fences) << "nothing is wrong without any fence";
}

void expect_same_terms(const Collective& collective, const std::vector<Plan>& emitted) {
    const auto nranks = static_cast<int>(emitted.size());
    const std::vector<Plan> plans = compile(collective, nranks);
    const Ports expected = ports_of(collective, plans.front());
    const Ports found = ports_of(collective, emitted.front());
    Terms terms;
    const ObviousRun right(plans, terms);
    const ObviousRun run(emitted, terms);
    for (int rank = 0; rank < nranks; ++rank) {
        EXPECT_EQ(run.at(found.output, rank), right.at(expected.output, rank))
            << "rank " << rank << " of " << nranks << ", " << collective.count << " elements";
    }
}

TEST_P(EmittedRecipe, IsProvedComputesTheSameAndHasNoFlagTooMany) {
    std::vector<Proved> all;
    for (const Shape& shape : kShapes) {
        const Collective which = collective(shape);
        const std::vector<Plan> plans = traced(which, shape.nranks);
        const CheckReport report = prove(which, plans, GetParam().device);
        EXPECT_EQ(report.verdict, Verdict::proved)
            << shape.nranks << " ranks, " << shape.count << " elements: "
            << (report.violations.empty() ? report.bound : report.violations[0].message);
        EXPECT_EQ(report.method, CheckMethod::linear) << report.why_explored;
        EXPECT_TRUE(report.any_calls) << shape.nranks << " ranks: " << report.why_not_any;
        if (shape.count < 1000 && which.kind != CollectiveKind::barrier) {
            expect_same_terms(which, plans);
        }
        all.push_back({which, plans});
    }
    expect_each_flag_needed(all, GetParam().device);
    expect_fences_needed(all, GetParam().device);
}

INSTANTIATE_TEST_SUITE_P(All, EmittedRecipe, ::testing::ValuesIn(cases()), [](const auto& info) {
    return std::string(name(info.param.kind)) + "_" + info.param.recipe + "_" +
           std::string(name(info.param.device));
});

}  // namespace recipes_test
}  // namespace peal::pto
