// SPDX-License-Identifier: Apache-2.0
// Recipes that know hosts against golden, over layouts, lengths, types, operations, roots and
// interleavings; and what they cost, counted in their plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>

#include "golden/rehearse.hpp"
#include "peal/compile.hpp"
#include "support/layouts.hpp"

namespace peal {
namespace hosts_property_test {

using test::HostCase;
using test::Hosts;

class HostsProperty : public testing::TestWithParam<HostCase> {};

TEST_P(HostsProperty, GivesGolden) {
    std::mt19937_64 random(29);
    std::size_t turn = 0;
    for (const Hosts& hosts : test::layouts()) {
        const std::uint64_t p = hosts.size();
        for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, p - 1, p + 1,
                                          std::uint64_t{255}, std::uint64_t{500}}) {
            Collective collective = test::collective_of(GetParam(), hosts, count);
            collective.stage_bytes = 64 * p * (1 + turn % 7);  // many chunks, or few
            collective.element = kElements[turn % kElements.size()];
            collective.op = kReduceOps[(turn / kElements.size()) % kReduceOps.size()];
            collective.root = static_cast<int>(random() % p);
            if (offers(collective.kind, collective.recipe, Placement::in_place) && turn % 2 == 0) {
                collective.placement = Placement::in_place;
            }
            EngineOptions options;
            if (turn % 3 != 0) options.seed = random();
            ++turn;
            const golden::Outcome outcome =
                golden::rehearse(collective, static_cast<int>(p), 2, options);
            EXPECT_EQ(outcome.wrong.value_or("ok"), "ok")
                << test::text_of(hosts) << ", " << count << " x " << name(collective.element) << " "
                << name(collective.op) << ", root " << collective.root;
        }
    }
}

TEST_P(HostsProperty, ManyRanksOnFiveHosts) {
    Hosts hosts;
    for (std::int64_t r = 0; r < 24; ++r) hosts.push_back(r * r % 5 + r % 2);
    Collective collective = test::collective_of(GetParam(), hosts, 65);
    collective.stage_bytes = 64 << 10;
    const golden::Outcome outcome = golden::rehearse(collective, 24, 2, {});
    EXPECT_EQ(outcome.wrong.value_or("ok"), "ok");
}

INSTANTIATE_TEST_SUITE_P(All, HostsProperty, testing::ValuesIn(test::host_cases()),
                         [](const auto& info) {
                             return std::string(name(info.param.kind)) + "_" + info.param.recipe;
                         });

// ---------------------------------------------------------------------------- costs

constexpr std::uint64_t kCount = 7680;  // whole lines for each of 2, 3, 4, 8 or 12 ranks
constexpr std::uint64_t n = kCount * 4;

struct Cost {
    std::uint64_t bytes;
    std::uint64_t notifies;
    bool operator==(const Cost&) const = default;
};
void PrintTo(const Cost& cost, std::ostream* out) {
    *out << cost.bytes << " bytes, " << cost.notifies << " notifies";
}

// Of H hosts with L ranks each, one after another; the root is rank 0.
struct Even {
    std::uint64_t h, l;
    std::uint64_t p() const { return h * l; }
};
enum class Part { root, of_root_host, leader, other };
using CostOf = std::function<Cost(const Even& e, Part part)>;
struct Formula {
    CostOf rank;
    std::function<std::uint64_t(const Even& e, bool is_root_host)> between;  // of a host
};

Formula of(CostOf rank, std::function<std::uint64_t(const Even& e, bool is_root_host)> between) {
    return {std::move(rank), std::move(between)};
}

const std::map<std::string, Formula>& formulas() {
    static const std::map<std::string, Formula> table = {
        {"allreduce hosts",
         of(
             [](const Even& e, Part) {
                 return Cost{5 * n + (4 * e.h - 3) * n / e.p(), 3 * (e.h + e.l - 2)};
             },
             [](const Even& e, bool) { return 2 * n * (e.h - 1) / e.h; })},
        {"reduce_scatter hosts",
         of(
             [](const Even& e, Part) {
                 return Cost{(3 * e.p() + 2 * e.h - 1) * n, 2 * (e.h + e.l - 2)};
             },
             [](const Even& e, bool) { return (e.p() - e.l) * n; })},
        {"allgather hosts", of(
                                [](const Even& e, Part) {
                                    return Cost{(2 * e.p() + 2 * e.h) * n, 2 * (e.h + e.l - 2)};
                                },
                                [](const Even& e, bool) { return (e.p() - e.l) * n; })},
        {"all_to_all hosts", of(
                                 [](const Even& e, Part) {
                                     return Cost{(4 * e.p() - 2) * n, 2 * (e.p() - 1)};
                                 },
                                 [](const Even& e, bool) { return e.l * (e.p() - e.l) * n; })},
        {"broadcast hosts",
         of(
             [](const Even& e, Part part) -> Cost {
                 if (part == Part::root) return {4 * n + 2 * n / e.l, e.h + e.l - 2};
                 if (part == Part::of_root_host) return {2 * n + 4 * n / e.l, e.h};
                 return {2 * n + 2 * (e.h - 2) * n / (e.p() - e.l), 2 * e.h + 2 * e.l - 5};
             },
             [](const Even& e, bool is_root_host) {
                 return is_root_host ? n : (e.h - 2) * n / (e.h - 1);
             })},
        {"allreduce leaders",
         of(
             [](const Even& e, Part part) -> Cost {
                 const bool leads = part == Part::root || part == Part::leader;
                 return leads ? Cost{3 * (e.h + e.l) * n, e.h + e.l - 2} : Cost{4 * n, 1};
             },
             [](const Even& e, bool) { return (e.h - 1) * n; })},
        {"broadcast leaders",
         of(
             [](const Even& e, Part part) -> Cost {
                 if (part == Part::root) return {2 * (e.h + e.l - 1) * n, e.h + e.l - 2};
                 return part == Part::leader ? Cost{2 * e.l * n, e.l - 1} : Cost{2 * n, 0};
             },
             [](const Even& e, bool is_root_host) { return is_root_host ? (e.h - 1) * n : 0; })},
        {"barrier hosts", of(
                              [](const Even& e, Part part) {
                                  const bool leads = part == Part::root || part == Part::leader;
                                  return Cost{0, leads ? e.h + e.l - 2 : 1};
                              },
                              [](const Even&, bool) { return 0; })},
    };
    return table;
}

Part part_of(int rank, std::uint64_t l) {
    if (rank == 0) return Part::root;
    if (static_cast<std::uint64_t>(rank) < l) return Part::of_root_host;
    return static_cast<std::uint64_t>(rank) % l == 0 ? Part::leader : Part::other;
}

// Bytes that the plan puts to ranks of other hosts.
std::uint64_t between_hosts(const Plan& plan) {
    std::uint64_t bytes = 0;
    for (const Instruction& each : plan.instructions) {
        if (each.group != 0) bytes += std::get<Copy>(each.action).dst.length;
    }
    return bytes;
}

TEST(HostCosts, AreWhatTheTableSays) {
    for (const HostCase& the : test::host_cases()) {
        std::string key = std::string(name(the.kind)) + " " + the.recipe;
        if (facts_of(the.kind).is_counted()) key.erase(key.find("_v "), 2);
        const Formula& formula = formulas().at(key);
        for (const Even e : {Even{2, 2}, {4, 2}, {2, 4}, {3, 1}, {3, 4}}) {
            Hosts hosts;
            for (std::uint64_t r = 0; r < e.p(); ++r) {
                hosts.push_back(static_cast<std::int64_t>(r / e.l));
            }
            Collective collective = test::collective_of(the, hosts, kCount);
            collective.root = 0;
            collective.stage_bytes = 8 << 20;
            std::fill(collective.counts.begin(), collective.counts.end(), kCount);
            std::vector<std::uint64_t> sent(e.h);
            for (const Plan& plan : compile(collective, static_cast<int>(e.p()))) {
                const bool stages_nothing = key == "broadcast hosts" && e.l == 1;
                const Traffic counted = traffic(plan);
                sent[static_cast<std::size_t>(plan.rank) / e.l] += between_hosts(plan);
                if (stages_nothing) continue;
                EXPECT_EQ((Cost{counted.bytes_read + counted.bytes_written, counted.notifies}),
                          formula.rank(e, part_of(plan.rank, e.l)))
                    << key << ", rank " << plan.rank << " of " << e.h << " x " << e.l;
            }
            for (std::uint64_t host = 0; host < e.h; ++host) {
                EXPECT_EQ(sent[host], formula.between(e, host == 0)) << key << ", host " << host;
            }
        }
    }
}

// Uneven hosts: what leaves one is what it has, to each other host, and what the others have of it.
TEST(HostCosts, OfUnevenHosts) {
    const Hosts hosts = {0, 0, 0, 1, 1, 1, 1, 1};
    const auto sent = [&](CollectiveKind kind) {
        std::vector<std::uint64_t> bytes(2);
        Collective collective = test::collective_of({kind, "hosts"}, hosts, kCount);
        for (const Plan& plan : compile(collective, 8)) {
            bytes[static_cast<std::size_t>(hosts[static_cast<std::size_t>(plan.rank)])] +=
                between_hosts(plan);
        }
        return bytes;
    };
    using Bytes = std::vector<std::uint64_t>;
    EXPECT_EQ(sent(CollectiveKind::allreduce), (Bytes{n, n}));
    EXPECT_EQ(sent(CollectiveKind::reduce_scatter), (Bytes{5 * n, 3 * n}));
    EXPECT_EQ(sent(CollectiveKind::allgather), (Bytes{3 * n, 5 * n}));
    EXPECT_EQ(sent(CollectiveKind::all_to_all), (Bytes{15 * n, 15 * n}));
}

TEST(HostCosts, DocumentationHasEveryRow) {
    std::ifstream file(PEAL_SOURCE_DIR "/docs/collectives.md");
    ASSERT_TRUE(file);
    std::stringstream text;
    text << file.rdbuf();
    for (const CollectiveKind kind : kCollectives) {
        for (const auto& entry : collectives::entries_of_hosts(kind)) {
            const Recipe& recipe = entry.row;
            std::stringstream row;
            row << "| " << name(kind) << " | " << recipe.name << " | " << recipe.steps << " | "
                << recipe.bytes << " | " << entry.between_hosts << " | " << recipe.window << " | "
                << recipe.signals << " | " << recipe.order << " | " << name(recipe.reuse) << " |\n";
            EXPECT_NE(text.str().find(row.str()), std::string::npos) << row.str();
        }
    }
}

}  // namespace hosts_property_test
}  // namespace peal
