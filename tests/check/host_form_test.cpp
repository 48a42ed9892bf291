// SPDX-License-Identifier: Apache-2.0
// What is proved with pipes is proved as a machine without pipes runs it; crosscheck_test.cpp tries
// that on random programs.
#include "plan/for_host.hpp"

#include <gtest/gtest.h>

#include "check/as_run.hpp"
#include "check/plans.hpp"

namespace peal {
namespace host_form_test {

using namespace test;  // NOLINT

std::string listing(const std::vector<Plan>& plans) {
    std::string text;
    for (const Plan& plan : plans) text += to_text(plan);
    return text;
}

std::string text_of(const CheckReport& report) {
    if (report.violations.empty()) return std::string(name(report.verdict));
    return std::string(name(report.violations[0].kind)) + ": " + report.violations[0].message;
}

// A rank tells the next that its input is in the window, and takes what it was given.
struct LateFlags {
    Plans plans{2};
    Meaning meaning;

    // In the order of its list, the store comes before what it stores.
    LateFlags() {
        const std::uint16_t input = plans.argument("input", Direction::in, 8);
        const std::uint16_t output = plans.argument("output", Direction::out, 8);
        const std::uint16_t data = plans.window("data", 8);
        const std::uint16_t signal = plans.signal("signal", 2, 1);
        plans.tile_bytes(8);
        meaning.name = "exchange";
        for (int me = 0; me < 2; ++me) {
            RankPlan rank = plans.on(me);
            const int peer = 1 - me;
            const auto move = [&](const Range& to, const Range& from) {
                rank.wait_flag(Pipe::load, Pipe::store).copy(to, rank.tile(0, 8), Pipe::store);
                rank.copy(rank.tile(0, 8), from, Pipe::load).set_flag(Pipe::load, Pipe::store);
                rank.drain();
            };
            move(rank.in(data, 0, 8), rank.in(input, 0, 8));
            rank.set(signal, peer, 0, now(1)).wait(signal, 0, now(1));
            move(rank.in(output, 0, 8), RankPlan::at(peer, data, 0, 8));
            rank.set(signal, peer, 1, now(1)).wait(signal, 1, now(1));
            meaning.outputs.push_back({me, output, 0, 8,
                                       std::make_shared<const std::vector<Contribution>>(
                                           std::vector<Contribution>{{peer, input, 0}}),
                                       ReduceOp::sum, Element::f32});
        }
    }
};

TEST(HostForm, OfAKernelWithLateFlagsIsProved) {
    const LateFlags kernel;
    for (const std::vector<Plan>& form :
         {kernel.plans.list(), plan::for_host(kernel.plans.list())}) {
        const CheckReport report = check({{&form, &kernel.meaning, {}}}, {});
        EXPECT_EQ(report.verdict, Verdict::proved) << text_of(report) << '\n' << listing(form);
    }
}

// What is asked of the checker, one proof after the other, and which of them fails.
class Asked {
public:
    explicit Asked(std::size_t failing = 2) : failing_(failing) {}

    std::optional<ProofAnswer> operator()(const std::vector<CheckStage>& stages,
                                          const CheckOptions& options) {
        ProofAnswer answer;
        answer.from_store = listings.empty();
        answer.report.events = listings.size();
        if (listings.size() == failing_) answer.report.verdict = Verdict::violated;
        listings.push_back(listing(*stages.front().plans));
        devices.push_back(options.device);
        return answer;
    }

    std::vector<std::string> listings;
    std::vector<DeviceRules> devices;

private:
    std::size_t failing_;
};

class ProofOfRunTest : public testing::Test {
protected:
    std::optional<checker::ProofOfRun> proved(Asked& asked) const {
        CheckOptions options;
        options.device = DeviceRules::a2a3();
        return checker::prove_as_run({{&given_, &kernel_.meaning, {}}}, options, std::ref(asked));
    }

    const LateFlags kernel_;
    const std::vector<Plan> given_ = kernel_.plans.list();
    const std::string given_listing_ = listing(given_);
    const std::string run_listing_ = listing(plan::for_host(given_));
};

TEST_F(ProofOfRunTest, IsOfWhatIsGivenAndOfWhatRuns) {
    Asked asked;
    const auto proof = proved(asked);
    EXPECT_EQ(asked.listings, (std::vector{given_listing_, run_listing_}));
    EXPECT_EQ(asked.devices, (std::vector{DeviceRules::a2a3(), DeviceRules{}}));
    EXPECT_EQ(proof->answer.report.events, 0);  // of what is given
    EXPECT_EQ(proof->here, nullptr);
    EXPECT_FALSE(proof->answer.from_store);  // the second is not
}

TEST_F(ProofOfRunTest, EndsWithWhatIsNotProved) {
    Asked first(0);
    EXPECT_EQ(proved(first)->here, nullptr);
    EXPECT_EQ(first.listings, (std::vector{given_listing_}));
    Asked second(1);
    const auto proof = proved(second);
    EXPECT_EQ(proof->answer.report.verdict, Verdict::violated);
    EXPECT_EQ(listing(*proof->here->stages().front().plans), run_listing_);
}

TEST_F(ProofOfRunTest, IsOneProofWhereThereAreNoPipes) {
    const std::vector<Plan> plans = plan::for_host(given_);
    Asked asked;
    checker::prove_as_run({{&plans, nullptr, {}}}, {}, std::ref(asked));
    EXPECT_EQ(asked.listings, (std::vector{run_listing_}));
}

}  // namespace host_form_test
}  // namespace peal
