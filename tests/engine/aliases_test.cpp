// SPDX-License-Identifier: Apache-2.0
#include "engine/aliases.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace peal::engine {
namespace {

class Aliases : public testing::Test {
protected:
    static Buffer buffer(std::string name, BufferKind kind, Direction direction) {
        Buffer result;
        result.name = std::move(name);
        result.kind = kind;
        result.direction = direction;
        return result;
    }
    BoundMemory at(const Buffer& what, std::size_t begin, std::uint64_t bytes, int rank = 0) const {
        return {&what, memory.data() + begin, bytes, rank};
    }

    std::array<std::byte, 64> memory{};
    const Buffer a = buffer("a", BufferKind::argument, Direction::in);
    const Buffer b = buffer("b", BufferKind::argument, Direction::in);
    const Buffer out = buffer("out", BufferKind::argument, Direction::out);
    const Buffer open = buffer("open", BufferKind::argument, Direction::unknown);
    const Buffer data = buffer("data", BufferKind::window, Direction::in);
    const Buffer sig = buffer("sig", BufferKind::signal, Direction::inout);
};

TEST_F(Aliases, AreToldInTheOrderGiven) {
    EXPECT_EQ(alias_among({at(out, 4, 8, 2), at(a, 0, 5, 2)}),
              "rank 2: arguments 'out' and 'a' overlap in memory, and 'out' is written");
    EXPECT_EQ(alias_among({at(a, 0, 8), at(open, 0, 8)}),
              "rank 0: arguments 'a' and 'open' overlap in memory, and 'open' is written");
    EXPECT_EQ(alias_among({at(out, 0, 8, 0), at(a, 7, 8, 1)}),
              "argument 'out' of rank 0 and argument 'a' of rank 1 overlap in memory, and 'out' is "
              "written");
    EXPECT_EQ(alias_among({at(data, 0, 32), at(a, 16, 4, 1)}),
              "rank 1: window 'data' and argument 'a' overlap in memory, and 'data' is written");
    EXPECT_EQ(alias_among({at(data, 0, 32), at(sig, 0, 32)}),
              "window 'data' and signal 'sig' are bound to the same symmetric memory");
}

TEST_F(Aliases, AreNoneBesideEachOtherInNothingOrBetweenReaders) {
    EXPECT_EQ(alias_among({}), std::nullopt);
    EXPECT_EQ(alias_among({at(a, 8, 8), at(out, 0, 8), at(data, 16, 8)}), std::nullopt);
    EXPECT_EQ(alias_among({at(a, 0, 8), at(b, 4, 8), at(out, 2, 0)}), std::nullopt);
}

// The answer of one pass over sorted memory is that of all pairs.
TEST_F(Aliases, AreThoseOfAllPairs) {
    std::mt19937 random(7);
    const auto below = [&](std::size_t end) { return random() % end; };
    const std::array kinds = {&a, &a, &b, &out, &open, &data};
    int found = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<BoundMemory> bound;
        const std::size_t count = 2 + below(5);
        while (bound.size() < count) {
            bound.push_back(at(*kinds[below(kinds.size())], below(56), below(9)));
        }
        bool clash = false;
        for (std::size_t i = 0; i < bound.size(); ++i) {
            for (std::size_t k = 0; k < i; ++k) {
                const auto* first = static_cast<const std::byte*>(bound[i].begin);
                const auto* second = static_cast<const std::byte*>(bound[k].begin);
                const bool only_read = (bound[i].buffer == &a || bound[i].buffer == &b) &&
                                       (bound[k].buffer == &a || bound[k].buffer == &b);
                clash |= !only_read && bound[i].bytes > 0 && bound[k].bytes > 0 &&
                         first < second + bound[k].bytes && second < first + bound[i].bytes;
            }
        }
        EXPECT_EQ(alias_among(bound).has_value(), clash);
        found += clash ? 1 : 0;
    }
    EXPECT_GT(found, 200);
    EXPECT_LT(found, 1800);
}

}  // namespace
}  // namespace peal::engine
