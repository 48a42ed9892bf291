// SPDX-License-Identifier: Apache-2.0
#include "worker/dependencies.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace peal::worker {
namespace dependencies_test {

constexpr std::size_t kBytes = 48;
using Pairs = std::set<std::pair<std::uint64_t, bool>>;  // an earlier task, and whether data comes

struct Touch {
    std::size_t begin, end;
    bool reads, writes;
};

// Byte by byte.
class Naive {
public:
    Pairs add(std::uint64_t task, const Touch& touch) {
        Pairs before;
        for (std::size_t i = touch.begin; i < touch.end; ++i) {
            Byte& byte = bytes_[i];
            if (byte.writer != 0) before.insert({byte.writer, touch.reads});
            if (touch.writes) {
                for (const std::uint64_t reader : byte.readers) before.insert({reader, false});
                byte = {task, {}};
            } else {
                byte.readers.insert(task);
            }
        }
        return before;
    }

private:
    struct Byte {
        std::uint64_t writer = 0;
        std::set<std::uint64_t> readers;
    };
    Byte bytes_[kBytes];
};

TaskPtr task(std::uint64_t id) {
    auto node = std::make_shared<TaskNode>(TaskNode::Kind::host, "");
    node->id = id;
    return node;
}

void expect_those_of_each_byte(std::uint64_t seed) {
    static std::byte memory[kBytes];
    std::mt19937_64 random(seed);
    Dependencies dependencies;
    Naive naive;
    const std::uint64_t count = 1 + random() % 59;
    for (std::uint64_t id = 1; id <= count; ++id) {
        Touch touch{};
        touch.begin = random() % kBytes;
        touch.end = touch.begin + random() % (kBytes + 1 - touch.begin);
        touch.writes = random() % 2 != 0;
        touch.reads = !touch.writes || random() % 2 != 0;
        Pairs found;
        dependencies.add(task(id),
                         {memory + touch.begin, memory + touch.end, touch.reads, touch.writes},
                         [&](const TaskPtr& earlier, bool carries_data) {
                             found.insert({earlier->id, carries_data});
                         });
        ASSERT_EQ(found, naive.add(id, touch)) << "seed " << seed << ", task " << id;
    }
}

TEST(Dependencies, AreThoseOfEachByte) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) expect_those_of_each_byte(seed);
}

TEST(Dependencies, ForgetMakesBytesNew) {
    std::byte memory[16];
    Dependencies dependencies;
    const auto nobody = [](const TaskPtr&, bool) { FAIL(); };
    dependencies.add(task(1), {memory, memory + 16, false, true}, nobody);
    dependencies.forget(memory + 4, memory + 8);
    dependencies.add(task(2), {memory + 4, memory + 8, true, true}, nobody);
    int named = 0;
    dependencies.add(task(3), {memory, memory + 5, true, false},
                     [&](const TaskPtr& earlier, bool) { named += earlier->id == 1 ? 1 : 10; });
    EXPECT_EQ(named, 11);
}

TEST(Dependencies, PruneDropsWhatDoesNotMatter) {
    std::byte memory[16];
    Dependencies dependencies;
    const auto ignore = [](const TaskPtr&, bool) {};
    dependencies.add(task(1), {memory, memory + 8, false, true}, ignore);
    dependencies.add(task(2), {memory + 4, memory + 12, true, false}, ignore);
    EXPECT_EQ(dependencies.segments(), 3U);
    dependencies.prune([](const TaskNode& node) { return node.id == 2; });
    EXPECT_EQ(dependencies.segments(), 2U);
    dependencies.prune([](const TaskNode&) { return false; });
    EXPECT_EQ(dependencies.segments(), 0U);
}

}  // namespace dependencies_test
}  // namespace peal::worker
