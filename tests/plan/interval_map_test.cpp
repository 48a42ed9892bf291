// SPDX-License-Identifier: Apache-2.0
#include "plan/interval_map.hpp"

#include <gtest/gtest.h>

#include <random>

namespace peal::plan {
namespace interval_map_test {

constexpr std::uint64_t kBytes = 24;

std::vector<int> flatten(const IntervalMap<int>& map, std::uint64_t begin, std::uint64_t end) {
    std::vector<int> flat;
    std::uint64_t at = begin;
    map.visit(begin, end, [&](std::uint64_t from, std::uint64_t to, int value) {
        EXPECT_EQ(from, at);
        EXPECT_LT(from, to);
        at = to;
        flat.insert(flat.end(), to - from, value);
    });
    EXPECT_EQ(at, end);
    return flat;
}

// Against one value per byte.
TEST(IntervalMap, IsAnArray) {
    std::mt19937 random(1);
    const auto pick = [&](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    for (int round = 0; round < 200; ++round) {
        IntervalMap<int> map(kBytes, 0);
        std::vector<int> array(kBytes, 0);
        for (int i = 0; i < 20; ++i) {
            const int begin = pick(0, kBytes - 1);
            const int end = pick(begin + 1, kBytes);
            const auto from = static_cast<std::uint64_t>(begin);
            const auto to = static_cast<std::uint64_t>(end);
            switch (pick(0, 2)) {
                case 0: {
                    const int value = pick(0, 3);
                    map.assign(from, to, value);
                    std::fill(array.begin() + begin, array.begin() + end, value);
                    break;
                }
                case 1:
                    map.update(from, to,
                               [](std::uint64_t, std::uint64_t, int& value) { value += 1; });
                    for (int at = begin; at < end; ++at) ++array[static_cast<std::size_t>(at)];
                    break;
                default: map.normalise();
            }
            EXPECT_EQ(flatten(map, from, to),
                      std::vector<int>(array.begin() + begin, array.begin() + end));
            EXPECT_EQ(flatten(map, 0, kBytes), array);
        }
    }
}

// Enough runs for many blocks of them, made and removed in stretches of every length.
TEST(IntervalMap, IsAnArrayOfManyRuns) {
    constexpr std::uint64_t kMany = 6000;
    std::mt19937 random(2);
    const auto pick = [&](std::uint64_t least, std::uint64_t most) {
        return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
    };
    IntervalMap<int> map(kMany, 0);
    std::vector<int> array(kMany, 0);
    const auto assign = [&](std::uint64_t begin, std::uint64_t end, int value) {
        map.assign(begin, end, value);
        std::fill(array.begin() + static_cast<std::ptrdiff_t>(begin),
                  array.begin() + static_cast<std::ptrdiff_t>(end), value);
    };
    for (std::uint64_t i = 0; i < kMany; ++i) assign(i, i + 1, static_cast<int>(i % 7));
    EXPECT_EQ(map.run_count(), kMany);
    for (int round = 0; round < 300; ++round) {
        const std::uint64_t begin = pick(0, kMany - 1);
        const std::uint64_t length = pick(1, round % 10 == 0 ? kMany : 300);
        const std::uint64_t end = std::min(begin + length, kMany);
        assign(begin, end, round);
        for (int i = 0; i < 40; ++i) {
            const std::uint64_t at = pick(begin, end - 1);
            assign(at, at + 1, -i);
        }
        EXPECT_EQ(flatten(map, 0, kMany), array);
        EXPECT_EQ(flatten(map, begin, end),
                  std::vector<int>(array.begin() + static_cast<std::ptrdiff_t>(begin),
                                   array.begin() + static_cast<std::ptrdiff_t>(end)));
    }
    IntervalMap<int> other(kMany, 0);
    for (std::uint64_t i = kMany; i-- > 0;) other.assign(i, i + 1, array[i]);
    map.normalise();
    other.normalise();
    EXPECT_EQ(map, other);
}

TEST(IntervalMap, EqualContentsHaveEqualRunsOnceNormalised) {
    IntervalMap<int> pieces(8, 1);
    pieces.assign(2, 4, 2);
    pieces.assign(2, 4, 1);
    EXPECT_NE(pieces, IntervalMap<int>(8, 1));
    pieces.normalise();
    EXPECT_EQ(pieces, IntervalMap<int>(8, 1));
}

TEST(IntervalMap, AssignJoinsWhatItCovers) {
    IntervalMap<int> map(8, 0);
    for (std::uint64_t i = 0; i < 8; ++i) map.assign(i, i + 1, static_cast<int>(i));
    EXPECT_EQ(map.run_count(), 8u);
    map.assign(1, 7, 9);
    EXPECT_EQ(map.run_count(), 3u);
}

}  // namespace interval_map_test
}  // namespace peal::plan
