// SPDX-License-Identifier: Apache-2.0
// Parts of a communicator cost little until they are used.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <latch>
#include <vector>

#include "comm/bootstrap.hpp"
#include "comm/profile_variable.hpp"
#include "comm/window.hpp"
#include "peal/communicator.hpp"
#include "shm/ranks.hpp"

namespace peal::comm {
namespace split_test {

// Of the world's memory.
std::uint64_t touched_bytes(const World& world) {
    struct stat status = {};
    EXPECT_EQ(fstat(world.descriptor(), &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

TEST(Split, TouchesLittleMemory) {
    constexpr int kParts = 20;
    std::latch have_begun(2), have_split(2), have_looked(2);
    shm::run_threads(2, [&](std::shared_ptr<World> world, int rank) {
        const std::unique_ptr<Group> group = bootstrap(world, rank);
        std::vector<std::unique_ptr<Group>> parts;
        parts.push_back(split(*group, 0, 0, {}));  // what is touched once is touched now
        have_begun.arrive_and_wait();
        const std::uint64_t before = touched_bytes(*world);
        have_looked.arrive_and_wait();
        for (int i = 0; i < kParts; ++i) parts.push_back(split(*group, 0, 0, {}));
        have_split.arrive_and_wait();
        EXPECT_LE(touched_bytes(*world) - before, std::uint64_t{kParts} * 2 * (64 << 10));
    });
}

// Its staging memory is touched when a call first wants it.
TEST(Split, StagesWhatItsCallsNeed) {
    Communicator::threads(2, [](Communicator& comm) {
        for (const std::size_t n : {1U, 1000U, 30000U, 500000U}) {
            Communicator part = comm.split(0, -comm.rank());
            std::vector<std::int32_t> x(n, 1 + part.rank());
            part.allreduce(x);
            EXPECT_EQ(x, std::vector<std::int32_t>(n, 3));
            part.broadcast(x, 1);
            EXPECT_EQ(x, std::vector<std::int32_t>(n, 3));
        }
    });
}

// As `peal tune` measures one recipe after another.
TEST(Split, MayChooseRecipesByAnotherTable) {
    const test::ProfileVariable built_in("");
    auto table = std::make_shared<Table>(built_in_table());
    table->rules.insert(table->rules.begin(), {CollectiveKind::allreduce, Where::staging, kMaxRanks,
                                               Rule::kAny, "pipeline"});
    Communicator::threads(2, [&](Communicator& comm) {
        Communicator part = Inside::choosing_by(comm, table);
        Communicator below = part.split(0);
        std::vector<float> x(10, 1.0F);
        EXPECT_EQ(part.recipe(call::allreduce(x)), "pipeline");
        EXPECT_EQ(below.recipe(call::allreduce(x)), "pipeline");
        EXPECT_EQ(comm.recipe(call::allreduce(x)), "push");
        part.allreduce(x);
        EXPECT_EQ(x, std::vector<float>(10, 2.0F));
    });
}

}  // namespace split_test
}  // namespace peal::comm
