// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "worker/arena.hpp"
#include "worker/kit.hpp"

namespace peal::worker::test {
namespace memory_test {

class Memories : public OnEngines {};
INSTANTIATE_TEST_SUITE_P(Worker, Memories, ::testing::ValuesIn(engines()), engine_name);

TEST_P(Memories, DeviceMemoryLivesAcrossTasks) {
    Worker worker = worker_of(2);
    std::vector<std::int32_t> a = numbers(8, 0), b(8);
    const Tensor x = worker.alloc<std::int32_t>(1, {8}), y = worker.alloc<std::int32_t>(1, {8});
    EXPECT_EQ(x.rank(), 1);
    worker.upload(Tensor(a), x);
    for (int i = 0; i < 5; ++i) {
        worker.submit(add_kernel(), 1, {x, y, 1});
        worker.submit(add_kernel(), 1, {y, x, 1});
    }
    worker.download(x, Tensor(b)).wait();
    EXPECT_EQ(b, numbers(8, 10));
    EXPECT_EQ(x.span<std::int32_t>()[7], 17);
}

TEST_P(Memories, ShardsLieOnTheirDevices) {
    Worker worker = worker_of(3);
    const ShardedTensor sharded = worker.alloc_sharded(Element::i32, {6, 2});
    ASSERT_EQ(sharded.size(), 3U);
    EXPECT_EQ(sharded[2].rank(), 2);
    EXPECT_EQ(sharded[2].shape(), (Dimensions{2, 2}));
    std::vector<std::int32_t> a = numbers(12, 0), b(12);
    worker.upload(Tensor(a, {6, 2}), sharded);
    EXPECT_EQ(worker.alloc_sharded(Element::i32, {4}, {2, 0})[0].rank(), 2);
    worker.download(sharded, Tensor(b, {6, 2}));
    worker.wait();
    EXPECT_EQ(b, a);
    EXPECT_EQ(sharded[1].span<std::int32_t>()[0], 4);
    EXPECT_EQ(message_of(Fault::usage, [&] { worker.alloc_sharded(Element::i32, {4}); }),
              "alloc: i32[4] cannot be split into 3 equal parts");
}

TEST_P(Memories, IsZeroWhenItIsHandedOutAgain) {
    Worker worker = worker_of(1);
    for (int round = 0; round < 50; ++round) {
        const Tensor tensor = worker.alloc<std::int32_t>(0, {3000});
        const auto values = tensor.span<std::int32_t>();
        ASSERT_TRUE(std::all_of(values.begin(), values.end(), [](auto v) { return v == 0; }));
        std::fill(values.begin(), values.end(), round + 1);
    }
}

TEST_P(Memories, ATaskKeepsTheMemoryOfItsArguments) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a = numbers(64, 0), b(64);
    for (int round = 0; round < 50; ++round) {
        const Tensor x = worker.alloc<std::int32_t>(0, {64});
        worker.upload(Tensor(a), x);
        worker.submit(add_kernel(), 0, {x, Tensor(b), 1});
    }
    worker.wait();
    EXPECT_EQ(b, numbers(64, 1));
}

TEST_P(Memories, MoreThanThereIsIsRefused) {
    Worker worker = worker_of(1);
    constexpr std::uint64_t kTooMuch = std::uint64_t{1} << 46;
    EXPECT_THAT(message_of(Fault::resource, [&] { worker.alloc<float>(0, {kTooMuch}); }),
                ::testing::StartsWith("cannot share 256.0 TiB of memory"));
    EXPECT_THAT(
        message_of(
            Fault::resource,
            [&] {
                worker.allocate_domain(
                    {.name = "d",
                     .windows = {{.name = "w", .element = Element::u8, .shape = {kTooMuch}}}});
            }),
        ::testing::StartsWith("cannot share 64.0 TiB of memory"));
    EXPECT_EQ(message_of(Fault::usage, [&] { worker.alloc<float>(0, {1ULL << 63}); }),
              "alloc: f32[9223372036854775808] has more bytes than can be counted");
    std::vector<std::int32_t> a(4), b(4);
    worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1}).wait();
    EXPECT_EQ(b, std::vector<std::int32_t>(4, 1));
}

TEST(Stages, AreKeptForTheNextTask) {
    const Arena arena(1);
    Stages stages(arena);
    Stages::Block small = stages.take(100);
    Stages::Block large = stages.take(5000);
    EXPECT_EQ(small->bytes(), 4096U);
    EXPECT_EQ(large->bytes(), 8192U);
    const std::uint64_t offset = large->offset();
    stages.give_back(std::move(large));
    EXPECT_NE(stages.take(4096)->offset(), offset);
    EXPECT_EQ(stages.take(8000)->offset(), offset);
}

}  // namespace memory_test
}  // namespace peal::worker::test
