// SPDX-License-Identifier: Apache-2.0
// The SIMD kernels give the oracle's bits, on every target that this machine can run.
#include "engine/kernels/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "engine/kernels/scalar.hpp"
#include "engine/kernels/strings.hpp"
#include "engine/targets.hpp"

namespace peal::engine {
namespace kernels_test {

using Bytes = std::vector<std::byte>;

std::vector<std::uint64_t> special_bits(Element element) {
    switch (element) {
        case Element::f16:
            return {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3c01,
                    0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0xffff};
        case Element::bf16:
            return {0x0000, 0x8000, 0x0001, 0x807f, 0x0080, 0x3f80, 0xbf80, 0x3f81,
                    0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0xffff};
        case Element::f32:
            return {0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000,
                    0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
                    0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xffffffff};
        case Element::f64:
            return {0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001,
                    0x3ff0000000000000, 0xbff0000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
                    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001,
                    0x7ff0000000000001, 0xffffffffffffffff};
        default:
            return {0,
                    1,
                    ~0ULL,
                    0x80,
                    0x7f,
                    0x8000,
                    0x7fff,
                    0x80000000,
                    0x7fffffff,
                    0x8000000000000000,
                    0x7fffffffffffffff};
    }
}

// Random bits, every third element a special one.
void fill_random(Element element, std::byte* to, std::size_t count, std::mt19937_64& random) {
    const auto special = special_bits(element);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bits =
            random() % 3 == 0 ? special[random() % special.size()] : random();
        std::memcpy(to + i * bytes_of(element), &bits, bytes_of(element));
    }
}

// Memory with some bytes before and after it, to see stray writes.
constexpr std::size_t kMargin = 80;

struct Sources {
    std::vector<Bytes> memory;
    std::vector<const void*> pointers;

    Sources(Element element, std::size_t count, std::size_t length, std::size_t shift,
            std::mt19937_64& random) {
        for (std::size_t s = 0; s < count; ++s) {
            memory.emplace_back(length * bytes_of(element) + 2 * kMargin);
            std::byte* start = memory.back().data() + (shift * (s + 1)) % 65;
            fill_random(element, start, length, random);
            pointers.push_back(start);
        }
    }
};

// Every length gives that many elements of what the oracle gives for all, and touches nothing else.
void expect_same_reduce(Element element, ReduceOp op, const Sources& from,
                        std::span<const std::size_t> lengths, std::size_t longest,
                        std::size_t dst_shift) {
    Bytes oracle(longest * bytes_of(element));
    scalar::reduce(element, op, oracle.data(), from.pointers, longest);
    on_every_target([&] {
        for (const std::size_t length : lengths) {
            const std::size_t bytes = length * bytes_of(element);
            Bytes found(bytes + 2 * kMargin, std::byte{0xa5});
            Bytes expected = found;
            std::copy_n(oracle.begin(), bytes, expected.data() + dst_shift);
            kernels::reduce(element, op, found.data() + dst_shift, from.pointers, length);
            ASSERT_EQ(found, expected) << name(element) << ' ' << name(op) << ' '
                                       << from.pointers.size() << " sources of " << length;
        }
    });
}

TEST(Kernels, ReduceGivesTheOraclesBits) {
    std::mt19937_64 random(1);
    std::vector<std::size_t> lengths(131);
    std::iota(lengths.begin(), lengths.end(), 0);
    lengths.push_back(1000);
    for (const Element element : kElements) {
        for (const ReduceOp op : kReduceOps) {
            for (const std::size_t sources : {1, 2, 3, 4, 7, 8, 17}) {
                const Sources from(element, sources, 1000, sources % 3, random);
                ASSERT_NO_FATAL_FAILURE(
                    expect_same_reduce(element, op, from, lengths, 1000, sources % 2));
            }
        }
    }
}

TEST(Kernels, ReduceTakesAnyAlignment) {
    std::mt19937_64 random(2);
    const std::array<std::size_t, 3> lengths = {1, 63, 100};
    for (const Element element : kElements) {
        for (std::size_t shift = 0; shift < 65; ++shift) {
            const Sources from(element, 3, 100, shift, random);
            ASSERT_NO_FATAL_FAILURE(
                expect_same_reduce(element, ReduceOp::sum, from, lengths, 100, shift));
        }
    }
}

TEST(Kernels, ReduceInPlaceOfAnySource) {
    std::mt19937_64 random(3);
    for (const Element element : kElements) {
        for (const ReduceOp op : kReduceOps) {
            for (std::size_t place = 0; place < 4; ++place) {
                for (const std::size_t length : {1, 31, 333}) {
                    Sources from(element, 4, length, 1, random);
                    Bytes expected(length * bytes_of(element));
                    scalar::reduce(element, op, expected.data(), from.pointers, length);
                    auto* dst = static_cast<std::byte*>(const_cast<void*>(from.pointers[place]));
                    const Bytes before(dst, dst + expected.size());
                    on_every_target([&] {
                        std::copy(before.begin(), before.end(), dst);
                        kernels::reduce(element, op, dst, from.pointers, length);
                        ASSERT_EQ(Bytes(dst, dst + expected.size()), expected)
                            << name(element) << ' ' << name(op) << " into source " << place;
                    });
                }
            }
        }
    }
}

// Every f16 and bf16 there is, alone: decoding and encoding are inverse to each other but for NaN.
TEST(Kernels, ReduceOfOneKeepsEveryHalf) {
    std::vector<std::uint16_t> all(0x10000);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
    const std::array<const void*, 1> source = {all.data()};
    const auto expect_kept = [&](Element element, unsigned infinity, std::uint16_t nan) {
        std::vector<std::uint16_t> result(all.size());
        kernels::reduce(element, ReduceOp::sum, result.data(), source, all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const bool is_nan = (i & 0x7fff) > infinity;
            ASSERT_EQ(result[i], is_nan ? nan : all[i]) << name(element) << ' ' << i;
        }
    };
    on_every_target([&] {
        expect_kept(Element::f16, 0x7c00, 0x7e00);
        expect_kept(Element::bf16, 0x7f80, 0x7fc0);
    });
}

void expect_same_map(MapOp op, Element element, double value, std::size_t length,
                     std::mt19937_64& random) {
    const std::size_t shift = length % 5;
    const Sources from(element, 1, length, shift, random);
    const Bytes before(length * bytes_of(element) + 2 * kMargin, std::byte{0xa5});
    Bytes expected = before;
    scalar::map(op, element, value, expected.data() + shift, from.pointers[0], length);
    on_every_target([&] {
        Bytes found = before;
        kernels::map(op, element, value, found.data() + shift, from.pointers[0], length);
        ASSERT_EQ(found, expected) << name(element) << " op " << static_cast<int>(op) << " scalar "
                                   << value << " length " << length;
    });
}

TEST(Kernels, MapGivesTheOraclesBits) {
    std::mt19937_64 random(4);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::vector<double> scalars = {0.0,       -0.0,       1.0,         -2.5, 3.0,
                                         300.0,     1e-8,       65519.,      1e40, 1e10,
                                         kInfinity, -kInfinity, std::nan("")};
    for (const Element element : kElements) {
        for (const MapOp op : {MapOp::fill, MapOp::add_scalar, MapOp::mul_scalar}) {
            for (const double value : scalars) {
                for (const std::size_t length : {0, 1, 3, 16, 31, 130, 1000}) {
                    ASSERT_NO_FATAL_FAILURE(expect_same_map(op, element, value, length, random));
                }
            }
        }
    }
}

TEST(Kernels, MaximumAndMinimumOfZerosAndNaN) {
    const std::array<float, 4> a = {0.0F, -0.0F, std::nanf("7"), 1.0F};
    const std::array<float, 4> b = {-0.0F, 0.0F, 1.0F, -std::nanf("9")};
    const std::array<const void*, 2> sources = {a.data(), b.data()};
    using Bits = std::array<std::uint32_t, 4>;
    on_every_target([&] {
        Bits bits = {};
        kernels::reduce(Element::f32, ReduceOp::max, bits.data(), sources, bits.size());
        EXPECT_EQ(bits, (Bits{0, 0, 0x7fc00000, 0x7fc00000}));
        kernels::reduce(Element::f32, ReduceOp::min, bits.data(), sources, bits.size());
        EXPECT_EQ(bits, (Bits{0x80000000, 0x80000000, 0x7fc00000, 0x7fc00000}));
    });
}

// 2048 + 1 + 1 is 2050 in f32. Rounding to f16 after each step would give 2048.
TEST(Kernels, HalvesAreRoundedOnce) {
    const std::array<std::uint16_t, 3> values = {0x6800, 0x3c00, 0x3c00};
    const std::array<const void*, 3> sources = {&values[0], &values[1], &values[2]};
    on_every_target([&] {
        std::uint16_t result = 0;
        kernels::reduce(Element::f16, ReduceOp::sum, &result, sources, 1);
        EXPECT_EQ(result, 0x6801);
    });
}

TEST(CopyBytes, CopiesAndTakesNothing) {
    const Bytes from = {std::byte{1}, std::byte{2}, std::byte{3}};
    Bytes to(3);
    kernels::copy_bytes(to.data(), from.data(), 2);
    EXPECT_EQ(to, (Bytes{std::byte{1}, std::byte{2}, std::byte{0}}));
    kernels::copy_bytes(nullptr, nullptr, 0);
}

TEST(Scalar, F16RoundsToNearestEven) {
    EXPECT_EQ(scalar::f16_from_f32(1.0F), 0x3c00);
    EXPECT_EQ(scalar::f16_from_f32(-2.0F), 0xc000);
    EXPECT_EQ(scalar::f16_from_f32(2049.0F), 0x6800);  // between 2048 and 2050: even mantissa
    EXPECT_EQ(scalar::f16_from_f32(2051.0F), 0x6802);
    EXPECT_EQ(scalar::f16_from_f32(65504.0F), 0x7bff);
    EXPECT_EQ(scalar::f16_from_f32(65519.0F), 0x7bff);
    EXPECT_EQ(scalar::f16_from_f32(65520.0F), 0x7c00);
    EXPECT_EQ(scalar::f16_from_f32(-1e30F), 0xfc00);
    EXPECT_EQ(scalar::f16_from_f32(std::ldexp(1.0F, -24)), 0x0001);
    EXPECT_EQ(scalar::f16_from_f32(std::ldexp(1.0F, -25)), 0x0000);
    EXPECT_EQ(scalar::f16_from_f32(std::ldexp(3.0F, -25)), 0x0002);
    EXPECT_EQ(scalar::f16_from_f32(std::ldexp(2047.0F, -25)), 0x0400);
    EXPECT_EQ(scalar::f16_from_f32(-0.0F), 0x8000);
}

TEST(Scalar, Bf16RoundsToNearestEven) {
    const auto rounded = [](std::uint32_t bits) {
        return scalar::bf16_from_f32(std::bit_cast<float>(bits));
    };
    EXPECT_EQ(rounded(0x3f800000), 0x3f80);
    EXPECT_EQ(rounded(0x3f808000), 0x3f80);
    EXPECT_EQ(rounded(0x3f808001), 0x3f81);
    EXPECT_EQ(rounded(0x3f818000), 0x3f82);
    EXPECT_EQ(rounded(0x7f7fffff), 0x7f80);
    EXPECT_EQ(rounded(0x00008000), 0x0000);
    EXPECT_EQ(rounded(0x00018000), 0x0002);
    EXPECT_EQ(rounded(0xff800001), 0x7fc0);
}

TEST(Scalar, IntegerScalarsTruncateAndSaturate) {
    EXPECT_EQ(scalar::i64_from_scalar(-2.9), -2);
    EXPECT_EQ(scalar::i64_from_scalar(1e30), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(scalar::i64_from_scalar(-1e30), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(scalar::i64_from_scalar(std::nan("")), 0);
    EXPECT_EQ(scalar::u64_from_scalar(0x1p63), std::uint64_t{1} << 63);
    EXPECT_EQ(scalar::u64_from_scalar(0x1p64), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(scalar::u64_from_scalar(-1), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(scalar::u64_from_scalar(std::nan("")), 0);
}

constexpr std::array kAllStores = {kernels::Stores::cached, kernels::Stores::distant,
                                   kernels::Stores::bypass};

// copy(dst, src, bytes) copies any number of bytes from anywhere to anywhere, and not a byte more.
template <class CopyIt>
void expect_copies(CopyIt&& copy) {
    Bytes from(50000);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
    for (const std::size_t bytes :
         {0, 1, 31, 64, 127, 511, 512, 513, 2047, 2048, 4096, 8191, 32768, 40001}) {
        for (const std::size_t shift : {0, 1, 17, 32, 63}) {
            Bytes to(bytes + 2 * 64, std::byte{0xee});
            copy(to.data() + shift, from.data() + shift / 2, bytes);
            Bytes expected(to.size(), std::byte{0xee});
            std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(shift / 2), bytes,
                        expected.begin() + static_cast<std::ptrdiff_t>(shift));
            ASSERT_EQ(to, expected) << bytes << " bytes at " << shift;
        }
    }
}

// Whole vectors, ends that are none, and not a byte beside them.
TEST(Copy, TakesAnyLengthAndAlignmentWithAnyStore) {
    on_every_target([&] {
        for (const kernels::Stores stores : kAllStores) {
            expect_copies([&](std::byte* dst, const std::byte* src, std::size_t bytes) {
                kernels::copy_bytes(dst, src, bytes, stores);
                kernels::fence_streams();
            });
        }
    });
}

// Also where they are not quick, and so not taken.
TEST(Copy, ByStringsTakesAnyLengthAndAlignment) { expect_copies(kernels::copy_string); }

TEST(Reduce, GivesTheSameBitsHoweverItStores) {
    std::vector<float> a(5003), b(a.size()), expected(a.size()), found(a.size() + 3);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<float>(i) * 0.37F;
        b[i] = 1.0F / static_cast<float>(i + 1);
    }
    const std::array<const void*, 2> sources = {a.data(), b.data()};
    on_every_target([&] {
        kernels::reduce(Element::f32, ReduceOp::sum, expected.data(), sources, a.size());
        for (const kernels::Stores stores : kAllStores) {
            std::fill(found.begin(), found.end(), 0.0F);
            kernels::reduce(Element::f32, ReduceOp::sum, found.data() + 3, sources, a.size(),
                            stores);
            kernels::fence_streams();
            EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin() + 3));
        }
    });
}

}  // namespace kernels_test
}  // namespace peal::engine
