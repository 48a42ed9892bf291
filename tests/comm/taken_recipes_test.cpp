// SPDX-License-Identifier: Apache-2.0
// Which recipe a communicator takes, and the memory it takes it in, is known for every kind, number
// of ranks and size; a change of the table or of the memory is a change here.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "comm/group_memory.hpp"
#include "comm/profile.hpp"
#include "comm/routine.hpp"
#include "support/message_sizes.hpp"

namespace peal::comm {
namespace taken_recipes_test {

constexpr std::uint64_t kElementBytes = 4;

// `staging` and out_of_reach differ in whether private buffers are in reach. No row for
// out_of_reach means the same as for staging.
enum Memory { staging, out_of_reach, window };

struct Row {
    CollectiveKind kind;
    Memory memory;
    std::vector<int> ranks;
    const char* ways;  // recipe, staging, and the largest message
};

std::vector<Row> known_rows() {
    using enum CollectiveKind;
    return {
        {allreduce,
         staging,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull ring to "
         "393216, pipeline bulk"},
        {allreduce,
         staging,
         {3},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 1536, "
         "pull ring to 131072, pipeline bulk"},
        {allreduce,
         staging,
         {4},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 2048, "
         "pull ring to 131072, pipeline bulk"},
        {allreduce,
         staging,
         {8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 4096, "
         "pull ring to 131072, pipeline bulk"},
        {allreduce,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 8192, "
         "pull ring to 131072, pipeline bulk"},
        {allreduce,
         window,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 512, direct window"},
        {allreduce,
         window,
         {3},
         "mesh none to 0, push line to 48, push box to 256, pull box to 1536, pull ring to 4096, "
         "direct window"},
        {allreduce,
         window,
         {4},
         "mesh none to 0, push line to 48, push box to 256, pull box to 2048, pull ring to 4096, "
         "direct window"},
        {allreduce,
         window,
         {8, 16},
         "mesh none to 0, push line to 48, push box to 256, pull box to 4096, direct window"},
        {reduce_scatter,
         staging,
         {1, 2, 3, 4, 8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 65536, pipeline bulk"},
        {reduce_scatter,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 32768, pipeline bulk"},
        {reduce_scatter,
         window,
         {1, 2, 3, 4, 8, 16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, mesh window"},
        {allgather,
         staging,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull ring to "
         "458752, pipeline bulk to 786432, mesh reach"},
        {allgather,
         staging,
         {3},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 1536, "
         "pull ring to 131072, pipeline bulk"},
        {allgather,
         staging,
         {4},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 2048, "
         "pull ring to 131072, pipeline bulk"},
        {allgather,
         staging,
         {8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 4096, "
         "pull ring to 131072, pipeline bulk"},
        {allgather,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 8192, "
         "pull ring to 131072, pipeline bulk"},
        {allgather,
         out_of_reach,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull ring to "
         "458752, pipeline bulk"},
        {allgather,
         window,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 256, mesh window"},
        {allgather,
         window,
         {3},
         "mesh none to 0, push line to 48, push box to 256, pull box to 1536, pull ring to 4096, "
         "mesh window"},
        {allgather,
         window,
         {4},
         "mesh none to 0, push line to 48, push box to 256, pull box to 2048, pull ring to 4096, "
         "mesh window"},
        {allgather,
         window,
         {8, 16},
         "mesh none to 0, push line to 48, push box to 256, pull box to 4096, mesh window"},
        {broadcast,
         staging,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, stream ring to "
         "524288, pipeline bulk to 1572864, joint reach"},
        {broadcast,
         staging,
         {3},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 1536, "
         "pull ring to 131072, pipeline bulk"},
        {broadcast,
         staging,
         {4},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 2048, "
         "pull ring to 131072, pipeline bulk"},
        {broadcast,
         staging,
         {8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 4096, "
         "pull ring to 131072, pipeline bulk"},
        {broadcast,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 8192, "
         "pull ring to 131072, pipeline bulk"},
        {broadcast,
         out_of_reach,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, stream ring to "
         "524288, pipeline bulk"},
        {broadcast, window, {1, 2}, "mesh none to 0, mesh window to 2048, joint window"},
        {broadcast, window, {3, 4, 8, 16}, "mesh none to 0, mesh window"},
        {all_to_all,
         staging,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 512, push ring to 262144, pipeline bulk to "
         "786432, mesh reach"},
        {all_to_all,
         staging,
         {3, 4, 8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 65536, pipeline bulk to "
         "393216, mesh reach to 1572864, pipeline bulk"},
        {all_to_all,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 32768, pipeline bulk to "
         "393216, mesh reach to 1572864, pipeline bulk"},
        {all_to_all,
         out_of_reach,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 512, push ring to 262144, pipeline bulk"},
        {all_to_all,
         out_of_reach,
         {3, 4, 8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 65536, pipeline bulk"},
        {all_to_all,
         out_of_reach,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 32768, pipeline bulk"},
        {all_to_all,
         window,
         {1, 2, 3, 4, 8, 16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 16384, pipeline bulk to "
         "1048576, mesh window"},
        {all_to_all_v,
         staging,
         {1, 2},
         "mesh none to 0, push box to 512, push ring to 262144, pipeline bulk"},
        {all_to_all_v,
         staging,
         {3},
         "mesh none to 0, push box to 512, push ring to 131076, pipeline bulk"},
        {all_to_all_v,
         staging,
         {4},
         "mesh none to 0, push box to 512, push ring to 131072, pipeline bulk"},
        {all_to_all_v,
         staging,
         {8},
         "mesh none to 0, push box to 512, push ring to 65536, pipeline bulk"},
        {all_to_all_v,
         staging,
         {16},
         "mesh none to 0, push box to 512, push ring to 32768, pipeline bulk"},
        {allgather_v,
         staging,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull ring to "
         "458752, pipeline bulk"},
        {allgather_v,
         staging,
         {3},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 1536, "
         "pull ring to 131072, pipeline bulk"},
        {allgather_v,
         staging,
         {4},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 2048, "
         "pull ring to 131072, pipeline bulk"},
        {allgather_v,
         staging,
         {8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 4096, "
         "pull ring to 131072, pipeline bulk"},
        {allgather_v,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 8192, "
         "pull ring to 131072, pipeline bulk"},
        {reduce_scatter_v,
         staging,
         {1, 2, 3, 4, 8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 65536, pipeline bulk"},
        {reduce_scatter_v,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 32768, pipeline bulk"},
        {reduce,
         staging,
         {1, 2, 3, 4, 8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 65536, pipeline bulk"},
        {reduce,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 32768, pipeline bulk"},
        {gather,
         staging,
         {1, 2, 3, 4, 8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 65536, pipeline bulk"},
        {gather,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 32768, pipeline bulk"},
        {scatter,
         staging,
         {1, 2, 3, 4, 8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 65536, pipeline bulk"},
        {scatter,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 32768, pipeline bulk"},
        {scan,
         staging,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull ring to "
         "131072, pipeline bulk"},
        {scan,
         staging,
         {3},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 1536, "
         "pull ring to 131072, pipeline bulk"},
        {scan,
         staging,
         {4},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 2048, "
         "pull ring to 131072, pipeline bulk"},
        {scan,
         staging,
         {8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 4096, "
         "pull ring to 32768, pipeline bulk"},
        {scan,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 8192, "
         "pull ring to 32768, pipeline bulk"},
        {exscan,
         staging,
         {1, 2},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull ring to "
         "131072, pipeline bulk"},
        {exscan,
         staging,
         {3},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 1536, "
         "pull ring to 131072, pipeline bulk"},
        {exscan,
         staging,
         {4},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 2048, "
         "pull ring to 131072, pipeline bulk"},
        {exscan,
         staging,
         {8},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 4096, "
         "pull ring to 32768, pipeline bulk"},
        {exscan,
         staging,
         {16},
         "mesh none to 0, push line to 48, push box to 512, push ring to 1024, pull box to 8192, "
         "pull ring to 32768, pipeline bulk"},
        {barrier, staging, {1, 2, 3, 4, 8, 16}, "mesh none"},
    };
}

std::string way_of(CollectiveKind kind, Memory memory, std::uint64_t bytes, int nranks) {
    constexpr std::array<std::string_view, 7> kLanes = {"none", "line",   "box",  "ring",
                                                        "bulk", "window", "reach"};
    Shape shape;
    shape.kind = kind;
    if (facts_of(kind).has_data()) {
        shape.element = Element::f32;
        shape.placement = memory == window ? Placement::window : Placement::separate;
        shape.count = bytes / kElementBytes;
    }
    if (facts_of(kind).is_counted()) {
        shape.counts.assign(table_entries(kind, nranks), 0);
        shape.counts[nranks > 1 ? 1 : 0] = static_cast<std::int64_t>(shape.count);
        shape.count = 0;
    }
    const RoutineLimits limits = limits_of(nranks, kRoomForCollectives, memory != out_of_reach);
    const auto routine = make_routine(shape, built_in_table(), nranks - 1, nranks, limits);
    return routine->collective.recipe + " " +
           std::string(kLanes[static_cast<std::size_t>(routine->staging)]);
}

TEST(TakenRecipes, AreWhatTheyHaveAlwaysBeen) {
    const auto sizes = peal::test::message_sizes(kElementBytes, 2 << 20);
    std::map<std::tuple<CollectiveKind, Memory, int>, std::string> known;
    for (const Row& row : known_rows()) {
        for (const int nranks : row.ranks) known[{row.kind, row.memory, nranks}] = row.ways;
    }
    for (const CollectiveKind kind : kCollectives) {
        for (const int nranks : {1, 2, 3, 4, 8, 16}) {
            for (const Memory memory : {staging, out_of_reach, window}) {
                const auto row = known.find({kind, memory, nranks});
                if (built_in_table().choices(kind, memory == window, 0, nranks).empty()) {
                    EXPECT_EQ(row, known.end()) << name(kind);
                    continue;
                }
                const std::string expected =
                    row != known.end() ? row->second : known[{kind, staging, nranks}];
                const std::string taken = peal::test::ways(sizes, [&](std::uint64_t bytes) {
                    return way_of(kind, memory, bytes, nranks);
                });
                EXPECT_EQ(taken, expected)
                    << name(kind) << ", memory " << memory << ", " << nranks << " ranks";
            }
        }
    }
}

}  // namespace taken_recipes_test
}  // namespace peal::comm
