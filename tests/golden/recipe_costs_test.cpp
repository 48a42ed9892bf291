// SPDX-License-Identifier: Apache-2.0
// What docs/collectives.md and recipes() say that each recipe costs, counted in its plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "collectives/catalogue.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/ops.hpp"
#include "support/patterns.hpp"

namespace peal {
namespace recipe_costs_test {

constexpr std::uint64_t kCount = 512;
constexpr std::uint64_t kBytes = kCount * 4;

struct Cost {
    std::uint64_t bytes;
    std::uint64_t notifies;
    bool operator==(const Cost&) const = default;
};
void PrintTo(const Cost& cost, std::ostream* out) {
    *out << cost.bytes << " bytes, " << cost.notifies << " notifies";
}

// The formulas of the table: of the root (or of every rank), and of the others where they differ.
struct Formula {
    std::function<Cost(std::uint64_t p)> root;
    std::function<Cost(std::uint64_t p)> others;
};

const std::map<std::string, Formula>& formulas() {
    constexpr std::uint64_t n = kBytes;
    const auto log2 = [](std::uint64_t p) { return std::uint64_t(std::bit_width(p) - 1); };
    const auto once = [](std::uint64_t) { return Cost{2 * n, 1}; };
    const auto silent = [](std::uint64_t) { return Cost{2 * n, 0}; };
    static const std::map<std::string, Formula> table = {
        {"allreduce mesh",
         {[](auto p) {
              return Cost{(p + 3) * n, 2 * (p - 1)};
          },
          {}}},
        {"allreduce two_phase",
         {[](auto p) {
              return Cost{5 * n + n / p, 3 * (p - 1)};
          },
          {}}},
        {"allreduce lanes",
         {[](auto p) {
              return Cost{5 * n + n / p, 3 * (p - 1) * kDefaultLanes};
          },
          {}}},
        {"allreduce ring",
         {[](auto p) {
              return Cost{9 * n - 5 * n / p, 2 * p - 1};
          },
          {}}},
        {"allreduce bidirectional_ring",
         {[](auto p) {
              return Cost{9 * n - 5 * n / p, 2 * (2 * p - 1)};
          },
          {}}},
        {"allreduce halving_doubling",
         {[=](auto p) {
              return Cost{9 * n - 5 * n / p, 3 * log2(p)};
          },
          {}}},
        {"allreduce direct",
         {[](auto p) {
              return Cost{7 * n - n / p, 2 * (p - 1)};
          },
          {}}},
        {"allreduce pipeline",
         {[](auto p) {
              return Cost{5 * n - n / p, 3 * (p - 1)};
          },
          {}}},
        {"allreduce push",
         {[](auto p) {
              return Cost{(3 * p - 1) * n, p - 1};
          },
          {}}},
        {"allreduce pull",
         {[](auto p) {
              return Cost{(p + 3) * n, p - 1};
          },
          {}}},
        {"reduce_scatter pipeline",
         {[](auto p) {
              return Cost{(3 * p - 1) * n, 2 * (p - 1)};
          },
          {}}},
        {"reduce_scatter push",
         {[](auto p) {
              return Cost{(3 * p - 1) * n, p - 1};
          },
          {}}},
        {"allgather pipeline",
         {[](auto p) {
              return Cost{(2 * p + 2) * n, 2 * (p - 1)};
          },
          {}}},
        {"allgather push",
         {[](auto p) {
              return Cost{(4 * p - 2) * n, p - 1};
          },
          {}}},
        {"allgather pull",
         {[](auto p) {
              return Cost{(2 * p + 2) * n, p - 1};
          },
          {}}},
        {"broadcast pipeline",
         {[](auto p) {
              return Cost{4 * n, p - 1};
          },
          once}},
        {"broadcast push",
         {[](auto p) {
              return Cost{2 * p * n, p - 1};
          },
          silent}},
        {"broadcast pull",
         {[](auto p) {
              return Cost{4 * n, p - 1};
          },
          silent}},
        {"broadcast stream",
         {[](auto p) {
              return Cost{4 * n, p - 1};
          },
          silent}},
        {"all_to_all lanes",
         {[](auto p) {
              return Cost{4 * p * n, 2 * (p - 1)};
          },
          {}}},
        {"all_to_all pipeline",
         {[](auto p) {
              return Cost{(4 * p - 2) * n, 2 * (p - 1)};
          },
          {}}},
        {"all_to_all push",
         {[](auto p) {
              return Cost{(4 * p - 2) * n, p - 1};
          },
          {}}},
        {"all_to_all_v pipeline",
         {[](auto p) {
              return Cost{(4 * p - 2) * n, 2 * (p - 1)};
          },
          {}}},
        {"all_to_all_v push",
         {[](auto p) {
              return Cost{(4 * p - 2) * n, p - 1};
          },
          {}}},
        {"reduce pipeline",
         {[](auto p) {
              return Cost{(p + 1) * n, p - 1};
          },
          once}},
        {"reduce push",
         {[](auto p) {
              return Cost{(p + 1) * n, 0};
          },
          once}},
        {"gather pipeline",
         {[](auto p) {
              return Cost{2 * p * n, p - 1};
          },
          once}},
        {"gather push",
         {[](auto p) {
              return Cost{2 * p * n, 0};
          },
          once}},
        {"scatter pipeline",
         {[](auto p) {
              return Cost{2 * p * n, p - 1};
          },
          once}},
        {"scatter push",
         {[](auto p) {
              return Cost{2 * p * n, p - 1};
          },
          silent}},
        {"reduce_scatter mesh",
         {[](auto p) {
              return Cost{(3 * p + 1) * n, 2 * (p - 1)};
          },
          {}}},
        {"reduce_scatter ring",
         {[](auto p) {
              return Cost{(5 * p - 1) * n, p};
          },
          {}}},
        {"allgather mesh",
         {[](auto p) {
              return Cost{4 * p * n, 2 * (p - 1)};
          },
          {}}},
        {"allgather ring",
         {[](auto p) {
              return Cost{4 * p * n, p};
          },
          {}}},
        {"broadcast mesh",
         {[](auto p) {
              return Cost{4 * n, p - 1};
          },
          once}},
        {"broadcast scatter_allgather",
         {[](auto p) {
              return Cost{4 * n, p - 1};
          },
          [](auto p) {
              return Cost{2 * n + 2 * n / p, 2 * p - 3};
          }}},
        {"broadcast joint",
         {[](auto p) {
              return Cost{6 * n - 2 * n / p, 2 * (p - 1)};
          },
          [](auto) {
              return Cost{2 * n, 2};
          }}},
        {"all_to_all mesh",
         {[](auto p) {
              return Cost{4 * p * n, 2 * (p - 1)};
          },
          {}}},
        {"all_to_all pairwise",
         {[](auto p) {
              return Cost{4 * p * n, p - 1 + p / 2};
          },
          {}}},
        {"all_to_all_v mesh",
         {[](auto p) {
              return Cost{4 * p * n, 2 * (p - 1)};
          },
          {}}},
        {"reduce mesh",
         {[](auto p) {
              return Cost{(p + 3) * n, p - 1};
          },
          once}},
        {"gather mesh",
         {[](auto p) {
              return Cost{(2 * p + 2) * n, p - 1};
          },
          once}},
        {"scatter mesh",
         {[](auto p) {
              return Cost{(2 * p + 2) * n, p - 1};
          },
          once}},
        {"barrier mesh",
         {[](auto p) {
              return Cost{0, p - 1};
          },
          {}}},
        {"barrier dissemination",
         {[=](auto p) {
              return Cost{0, log2(p)};
          },
          {}}},
    };
    return table;
}

Cost cost_of(const Plan& plan) {
    const Traffic counted = traffic(plan);
    return {counted.bytes_read + counted.bytes_written, counted.notifies};
}

std::vector<Plan> plans_of(CollectiveKind kind, std::string_view recipe, int nranks,
                           Placement placement = Placement::separate) {
    Collective collective;
    collective.placement = placement;
    collective.kind = kind;
    collective.recipe = recipe;
    collective.count = kCount;
    collective.counts.assign(table_entries(kind, nranks), kCount);
    return compile(collective, nranks);
}

TEST(RecipeCosts, AreWhatTheTableSays) {
    std::size_t checked = 0;
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            const std::string key = std::string(name(kind)) + " " + std::string(recipe.name);
            // With counts that are all the same, tables by rank cost what blocks do.
            const auto formula = formulas().find(
                facts_of(kind).counts_ranks() ? test::replaced(key, "_v ", " ") : key);
            if (formula == formulas().end()) continue;  // trees and scans have tests of their own
            if (!facts_of(kind).counts_ranks()) ++checked;
            for (const int nranks : {2, 4, 8, 16}) {
                const auto p = static_cast<std::uint64_t>(nranks);
                for (const Plan& plan : plans_of(kind, recipe.name, nranks)) {
                    const bool other = plan.rank != 0 && formula->second.others;
                    EXPECT_EQ(cost_of(plan),
                              (other ? formula->second.others : formula->second.root)(p))
                        << key << ", rank " << plan.rank << " of " << nranks;
                }
            }
        }
    }
    EXPECT_EQ(checked, formulas().size());
}

TEST(RecipeCosts, InATreeLeavesMoveHalf) {
    for (const Plan& plan : plans_of(CollectiveKind::broadcast, "tree", 8)) {
        const auto children =
            std::vector<std::uint64_t>{3, 2, 1, 1, 0, 0, 0, 0}[std::size_t(plan.rank)];
        EXPECT_EQ(cost_of(plan),
                  (Cost{children ? 4 * kBytes : 2 * kBytes, children + (plan.rank ? 1 : 0)}))
            << plan.rank;
    }
}

// A stream has a notify for each 8 KiB, and not more than eight.
TEST(RecipeCosts, AStreamHasPieces) {
    Collective collective;
    collective.kind = CollectiveKind::broadcast;
    collective.recipe = "stream";
    collective.placement = Placement::in_place;
    using Case = std::pair<std::uint64_t, std::uint64_t>;
    for (const auto& [count, pieces] : {Case{1, 1}, Case{4095, 1}, Case{4096, 2}, Case{10001, 4},
                                        Case{16384, 8}, Case{32768, 8}}) {
        collective.count = count;
        for (const Plan& plan : compile(collective, 3)) {
            const std::uint64_t notifies = plan.rank == 0 ? 2 * pieces : 0;
            EXPECT_EQ(cost_of(plan), (Cost{2 * 4 * count, notifies})) << count;
        }
    }
}

TEST(RecipeCosts, OfScansGoByTheRank) {
    using enum CollectiveKind;
    constexpr std::uint64_t n = kBytes;
    for (const int nranks : {1, 2, 4, 8, 16}) {
        const auto p = static_cast<std::uint64_t>(nranks);
        const auto expect = [&](CollectiveKind kind, const char* mode, const auto& cost) {
            for (const Plan& plan : plans_of(kind, mode, nranks)) {
                EXPECT_EQ(cost_of(plan), cost(static_cast<std::uint64_t>(plan.rank)))
                    << name(kind) << " " << mode << ", rank " << plan.rank << " of " << nranks;
            }
        };
        // What the last rank does not stage, and the first of an exscan does not get.
        const auto staged = [=](std::uint64_t r) { return r + 1 < p ? 2 * n : 0; };
        const auto got = [=](std::uint64_t r) { return r > 0 ? (r + 1) * n : 0; };
        const auto links = [=](std::uint64_t r) {
            return std::uint64_t{r > 0} + std::uint64_t{r + 1 < p};
        };
        const auto added = [=](std::uint64_t r) { return r > 0 && r + 1 < p ? 3 * n : staged(r); };
        expect(scan, "mesh", [&](auto r) { return Cost{staged(r) + (r + 2) * n, p - 1}; });
        expect(scan, "pull", [&](auto r) { return Cost{staged(r) + (r + 2) * n, p - 1 - r}; });
        expect(scan, "push", [&](auto r) {
            return Cost{2 * (p - 1 - r) * n + (r + 2) * n, p - 1 - r};
        });
        expect(scan, "pipeline", [&](auto r) {
            return Cost{added(r) + (r > 0 && r + 1 == p ? 3 : 2) * n, links(r)};
        });
        expect(exscan, "mesh", [&](auto r) { return Cost{staged(r) + got(r), p - 1}; });
        expect(exscan, "pull", [&](auto r) { return Cost{staged(r) + got(r), p - 1 - r}; });
        expect(exscan, "push", [&](auto r) {
            return Cost{2 * (p - 1 - r) * n + got(r), p - 1 - r};
        });
        expect(exscan, "pipeline", [&](auto r) {
            return Cost{added(r) + (r > 0 ? 2 * n : 0), links(r)};
        });
    }
}

// In place nobody copies its own block.
TEST(RecipeCosts, InPlaceTheOwnBlockStaysWhereItIs) {
    const auto bytes = [](CollectiveKind kind, std::string_view recipe, Placement placement) {
        return cost_of(plans_of(kind, recipe, 4, placement).front()).bytes;
    };
    for (const CollectiveKind kind :
         {CollectiveKind::allgather, CollectiveKind::broadcast, CollectiveKind::all_to_all,
          CollectiveKind::gather, CollectiveKind::scatter}) {
        for (const char* recipe : {"pipeline", "push"}) {
            EXPECT_EQ(bytes(kind, recipe, Placement::in_place) + 2 * kBytes,
                      bytes(kind, recipe, Placement::separate))
                << name(kind) << " " << recipe;
        }
    }
}

// A small message is one copy, one notify, one wait and one reduction.
TEST(RecipeCosts, AnAllreduceOfTwoIsFourInstructions) {
    for (const char* recipe : {"push", "pull"}) {
        for (const Placement placement : {Placement::separate, Placement::in_place}) {
            for (const Plan& plan : plans_of(CollectiveKind::allreduce, recipe, 2, placement)) {
                EXPECT_EQ(plan.instructions.size(), 4u);
                EXPECT_EQ(plan.tile_bytes, 0u);
            }
        }
    }
}

// A fused mesh allreduce reads each peer's window once and writes the output once.
TEST(RecipeCosts, FusedMeshAllreduceTouchesEachPeerOnce) {
    for (const Plan& plan : plans_of(CollectiveKind::allreduce, "mesh", 8)) {
        const Traffic counted = traffic(plan);
        EXPECT_EQ(counted.remote_bytes_read, 7 * kBytes);
        EXPECT_EQ(counted.remote_bytes_written, 0u);
        EXPECT_EQ(counted.bytes_written, 2 * kBytes);  // staging, and the output
        EXPECT_EQ(plan.tile_bytes, 0u);
    }
}

TEST(RecipeCosts, DocumentationHasEveryRow) {
    std::ifstream file(PEAL_SOURCE_DIR "/docs/collectives.md");
    ASSERT_TRUE(file);
    std::stringstream text;
    text << file.rdbuf();
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            std::stringstream row;
            row << "| " << name(kind) << " | " << recipe.name << " | " << recipe.steps << " | "
                << recipe.bytes << " | " << recipe.window << " | " << recipe.signals << " | "
                << recipe.order << " | " << name(recipe.reuse) << " |\n";
            EXPECT_NE(text.str().find(row.str()), std::string::npos) << row.str();
        }
    }
}

TEST(Recipes, AreTheModesOfTheRegistry) {
    for (const CollectiveKind kind : kCollectives) {
        const std::string op = (kind == CollectiveKind::barrier ? "pld.system." : "pld.tensor.") +
                               std::string(name(kind));
        std::vector<std::string_view> names = {"auto"};
        for (const Recipe& recipe : recipes(kind)) names.push_back(recipe.name);
        for (const auto& entry : collectives::entries_of_hosts(kind)) {
            names.push_back(entry.row.name);
        }
        const auto& attributes = ir::find_op(op)->attributes;
        const auto recipe = std::find_if(attributes.begin(), attributes.end(),
                                         [](const auto& each) { return each.name == "recipe"; });
        ASSERT_NE(recipe, attributes.end()) << op;
        EXPECT_EQ(recipe->words, names) << op;
    }
}

}  // namespace recipe_costs_test
}  // namespace peal
