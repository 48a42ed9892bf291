// SPDX-License-Identifier: Apache-2.0
// The kernels of examples/pto: proved on both devices for every rank count, call after call on the
// same window, and run against golden.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "golden/rehearse.hpp"
#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/pto.hpp"
#include "plan/for_host.hpp"

namespace peal {
namespace examples_test {

struct Example {
    std::string file;
    CollectiveKind kind;
    std::uint64_t count;  // of the well-known example
    bool in_rank_order = false;
};

std::ostream& operator<<(std::ostream& out, const Example& example) { return out << example.file; }

std::vector<Example> examples() {
    return {{"allreduce_one_phase", CollectiveKind::allreduce, 256, true},
            {"allreduce_two_phase", CollectiveKind::allreduce, 256, true},
            {"allreduce_ring", CollectiveKind::allreduce, 256},
            {"allreduce_bidirectional_ring", CollectiveKind::allreduce, 256},
            {"allgather", CollectiveKind::allgather, 64},
            {"reduce_scatter", CollectiveKind::reduce_scatter, 64, true},
            {"broadcast", CollectiveKind::broadcast, 64},
            {"all_to_all", CollectiveKind::all_to_all, 64}};
}

pto::Kernel compile_example(const std::string& file) {
    return pto::Kernel::compile(PEAL_SOURCE_DIR "/examples/pto/" + file + ".cpp");
}

class PtoExample : public ::testing::TestWithParam<Example> {
protected:
    Collective collective(std::uint64_t count, int root = 0) const {
        Collective result;
        result.kind = GetParam().kind;
        result.count = count;
        result.root = root;
        return result;
    }
    std::vector<Plan> trace(const Collective& collective, int nranks) const {
        return pto::trace(kernel_, pto::preset(collective, nranks), nranks);
    }

    void expect_proved(const Collective& collective, const std::vector<Plan>& plans) const {
        Meaning meaning = meaning_of(collective, plans);
        meaning.in_order = GetParam().in_rank_order;
        for (const pto::Device device : {pto::Device::a2a3, pto::Device::a5}) {
            CheckOptions options;
            options.device = pto::rules_of(device);
            options.strict_loads = true;
            const CheckReport report = check({{&plans, &meaning, {}}}, options);
            EXPECT_EQ(report.verdict, Verdict::proved)
                << name(device) << ", " << plans.size() << " ranks, " << collective.count
                << " elements: "
                << (report.violations.empty() ? report.bound : report.violations[0].message);
            EXPECT_EQ(report.method, CheckMethod::linear) << report.why_explored;
        }
    }

    // Runs in process, as `peal run` does it: on the cores there are, and in a random interleaving
    // of single instructions; and as it is written.
    void expect_golden(const Collective& collective, const std::vector<Plan>& plans) const {
        EngineOptions random;
        random.seed = 5;
        expect_golden(collective, plan::for_host(plans), {});
        expect_golden(collective, plan::for_host(plans), random);
        expect_golden(collective, plans, random);
    }
    static void expect_golden(const Collective& collective, const std::vector<Plan>& plans,
                              const EngineOptions& options) {
        const Ports ports = ports_of(collective, plans.front());
        const golden::Outcome outcome = golden::rehearse(plans, collective, ports, 3, options);
        EXPECT_EQ(outcome.wrong.value_or("ok"), "ok")
            << plans.size() << " ranks, " << collective.count << " elements";
    }

    const pto::Kernel kernel_ = compile_example(GetParam().file);
};

TEST_P(PtoExample, IsProvedAndRunsForEveryRankCount) {
    for (int nranks = 2; nranks <= 16; ++nranks) {
        const Collective each = collective(GetParam().count, nranks / 2);
        const std::vector<Plan> plans = trace(each, nranks);
        expect_proved(each, plans);
        expect_golden(each, plans);
    }
}

// Less than one element per rank, parts of unequal length, and more than tile memory holds.
TEST_P(PtoExample, IsProvedAndRunsForEveryCount) {
    for (const int nranks : {2, 5}) {
        for (const std::uint64_t count : {1u, 7u, 255u, 8192u, 70'001u}) {
            const Collective each = collective(count, nranks - 1);
            const std::vector<Plan> plans = trace(each, nranks);
            expect_proved(each, plans);
            expect_golden(each, plans);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, PtoExample, ::testing::ValuesIn(examples()),
                         [](const auto& info) { return info.param.file; });

// Each call on the window has another root.
TEST(PtoBroadcast, TheRootMayChange) {
    constexpr int kRanks = 3;
    const pto::Kernel kernel = compile_example("broadcast");
    std::vector<std::vector<Plan>> plans;
    std::vector<Meaning> meanings;
    for (int root = 0; root < kRanks; ++root) {
        Collective collective;
        collective.kind = CollectiveKind::broadcast;
        collective.count = 64;
        collective.root = root;
        plans.push_back(pto::trace(kernel, pto::preset(collective, kRanks), kRanks));
        meanings.push_back(meaning_of(collective, plans.back()));
    }
    std::vector<CheckStage> stages;
    for (std::size_t i = 0; i < plans.size(); ++i) stages.push_back({&plans[i], &meanings[i], {}});
    const CheckReport report = check(stages);
    EXPECT_EQ(report.verdict, Verdict::proved)
        << (report.violations.empty() ? report.bound : report.violations[0].message);
}

}  // namespace examples_test
}  // namespace peal
