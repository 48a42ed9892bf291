// SPDX-License-Identifier: Apache-2.0
// What is proved with pipes is proved as a machine without pipes runs it; crosscheck_test.cpp tries
// that on random programs.
#include "plan/for_host.hpp"

#include <gtest/gtest.h>

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

// In the order of its list, the store comes before what it stores.
TEST(HostForm, OfAKernelWithLateFlagsIsProved) {
    Plans plans(2);
    const std::uint16_t input = plans.argument("input", Direction::in, 8);
    const std::uint16_t output = plans.argument("output", Direction::out, 8);
    const std::uint16_t data = plans.window("data", 8);
    const std::uint16_t signal = plans.signal("signal", 2, 1);
    plans.tile_bytes(8);
    Meaning meaning;
    meaning.name = "exchange";
    for (int me = 0; me < 2; ++me) {
        RankPlan rank = plans.on(me);
        const int peer = 1 - me;
        const auto move = [&](const Range& to, const Range& from) {
            rank.wait_flag(Pipe::load, Pipe::store).copy(to, rank.tile(0, 8), Pipe::store);
            rank.copy(rank.tile(0, 8), from, Pipe::load).set_flag(Pipe::load, Pipe::store).drain();
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
    for (const std::vector<Plan>& form : {plans.list(), plan::for_host(plans.list())}) {
        const CheckReport report = check({{&form, &meaning, {}}}, {});
        EXPECT_EQ(report.verdict, Verdict::proved) << text_of(report) << '\n' << listing(form);
    }
}

}  // namespace host_form_test
}  // namespace peal
