// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "worker/kit.hpp"

namespace peal::worker::test {
namespace tensor_test {

TEST(Tensor, TakesTypeAndCountFromMemory) {
    std::vector<float> memory(6);
    const Tensor flat(memory);
    EXPECT_EQ(to_text(flat.element(), flat.shape()), "f32[6]");
    EXPECT_EQ(flat.data(), reinterpret_cast<std::byte*>(memory.data()));
    EXPECT_TRUE(flat.is_on_host());
    EXPECT_EQ(flat.rank(), -1);
    EXPECT_FALSE(flat.is_read_only());
    const Tensor grid(memory, {2, 3});
    EXPECT_EQ(to_text(grid.element(), grid.shape()), "f32[2, 3]");
    EXPECT_EQ(grid.bytes(), 24U);

    const std::array<std::int64_t, 4> constant = {1, 2, 3, 4};
    const Tensor read_only(constant);
    EXPECT_TRUE(read_only.is_read_only());
    EXPECT_EQ(read_only.span<const std::int64_t>()[3], 4);
}

TEST(Tensor, SlicesShareItsMemory) {
    std::vector<std::int32_t> memory = numbers(24, 0);
    const Tensor grid(memory, {6, 4});
    const Tensor middle = grid.slice(2, 5);
    EXPECT_EQ(middle.shape(), (Dimensions{3, 4}));
    EXPECT_EQ(middle.span<std::int32_t>()[0], 8);
    EXPECT_EQ(middle.span<std::int32_t>().size(), 12U);
    const std::vector<Tensor> parts = grid.split(3);
    ASSERT_EQ(parts.size(), 3U);
    EXPECT_EQ(parts[2].span<std::int32_t>()[0], 16);
    EXPECT_EQ(grid.slice(6, 6).count(), 0U);
    EXPECT_EQ(grid.reshaped({2, 12}).shape(), (Dimensions{2, 12}));
}

TEST(Tensor, RefusesWhatCannotBe) {
    std::vector<std::int32_t> memory(24);
    const Tensor grid(memory, {6, 4});
    const auto said = [](const std::function<void()>& act) {
        return message_of(Fault::usage, act);
    };
    EXPECT_EQ(said([&] {
                  Tensor(memory, {5, 5});
              }),
              "tensor: expected a shape of 24 elements, found [5, 5]");
    EXPECT_EQ(said([&] { grid.slice(2, 7); }), "tensor: there is no slice [2, 7) of i32[6, 4]");
    EXPECT_EQ(said([&] { grid.slice(3, 2); }), "tensor: there is no slice [3, 2) of i32[6, 4]");
    EXPECT_EQ(said([&] { grid.split(4); }), "tensor: i32[6, 4] cannot be split into 4 equal parts");
    EXPECT_EQ(said([&] { grid.reshaped({7}); }),
              "tensor: expected a shape of 24 elements, found [7]");
    EXPECT_EQ(said([&] { grid.span<float>(); }), "tensor: expected elements of i32, found f32");
    EXPECT_EQ(said([] {
                  Tensor(Memory{nullptr, 3, Element::f32});
              }),
              "tensor: expected memory, found a null pointer");
    EXPECT_EQ(said([] {
                  count_of({1ULL << 40, 1ULL << 40});
              }),
              "tensor: [1099511627776, 1099511627776] has more elements than can be counted");
    const std::vector<float> constant(2);
    EXPECT_EQ(said([&] { Tensor(constant).span<float>(); }),
              "tensor: it can only be read; ask for a span of const elements");
}

}  // namespace tensor_test
}  // namespace peal::worker::test
