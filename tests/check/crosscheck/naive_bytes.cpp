// SPDX-License-Identifier: Apache-2.0
#include "check/crosscheck/naive_bytes.hpp"

#include <algorithm>
#include <bit>

#include "check/crosscheck/naive_terms.hpp"

namespace peal::test {
namespace {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    std::uint64_t hash = a * 0x9e3779b97f4a7c15 + b * 0xc2b2ae3d27d4eb4f + c * 0x165667b19e3779f9;
    for (int i = 0; i < 3; ++i) {
        hash ^= hash >> 31;
        hash *= 0xd6e8feb86659fd93;
    }
    return hash ^ hash >> 32;
}

std::uint64_t get(std::span<const Lanes> bytes, unsigned run) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bits |= static_cast<std::uint64_t>(bytes[i] >> 8 * run & 0xff) << 8 * i;
    }
    return bits;
}

void put(std::span<Lanes> bytes, unsigned run, std::uint64_t bits) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] &= ~(Lanes{0xff} << 8 * run);
        bytes[i] |= static_cast<Lanes>(bits >> 8 * i & 0xff) << 8 * run;
    }
}

std::int64_t signed_of(Element element, std::uint64_t bits) {
    switch (element) {
        case Element::i8: return static_cast<std::int8_t>(bits);
        case Element::i16: return static_cast<std::int16_t>(bits);
        case Element::i32: return static_cast<std::int32_t>(bits);
        default: return static_cast<std::int64_t>(bits);
    }
}

template <class T>
T result(ReduceOp op, T a, T b) {
    switch (op) {
        case ReduceOp::sum: return a + b;
        case ReduceOp::prod: return a * b;
        case ReduceOp::max: return std::max(a, b);
        case ReduceOp::min: return std::min(a, b);
    }
    return a;
}

}  // namespace

Lanes random_lanes(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return static_cast<Lanes>(mixed(a, b, c));
}

Lanes random_float_lanes(std::uint64_t a, std::uint64_t b, std::uint64_t offset) {
    const std::uint64_t numbers = mixed(a, b, offset / 4);
    Lanes lanes = 0;
    for (unsigned run = 0; run < kRuns; ++run) {
        const auto number = static_cast<float>(1 + (numbers >> 8 * run & 0x3f));
        lanes |= (std::bit_cast<std::uint32_t>(number) >> 8 * (offset % 4) & 0xff) << 8 * run;
    }
    return lanes;
}

bool is_computable(Element element) { return !is_float(element) || element == Element::f32; }

void combine_lanes(ReduceOp op, Element element, std::span<Lanes> out, std::span<const Lanes> left,
                   std::span<const Lanes> right) {
    for (unsigned run = 0; run < kRuns; ++run) {
        const std::uint64_t a = get(left, run), b = get(right, run);
        if (element == Element::f32) {
            const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(a));
            const auto y = std::bit_cast<float>(static_cast<std::uint32_t>(b));
            put(out, run, std::bit_cast<std::uint32_t>(result(op, x, y)));
        } else if (op == ReduceOp::max || op == ReduceOp::min) {
            put(out, run,
                static_cast<std::uint64_t>(
                    result(op, signed_of(element, a), signed_of(element, b))));
        } else {
            put(out, run, result(op, a, b));  // the low bytes are the same with and without sign
        }
    }
}

void fill_lanes(Element element, double scalar, std::span<Lanes> out) {
    for (unsigned run = 0; run < kRuns; ++run) put(out, run, bits_of(element, scalar));
}

void convert_lanes(Element to, Element from, std::span<Lanes> out, std::span<const Lanes> in) {
    for (unsigned run = 0; run < kRuns; ++run) {
        const std::uint64_t bits = get(in, run);
        const bool reads_float = from == Element::f32;
        const float number = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        // What is no small number is not worth converting as the machine does.
        const bool is_small = number > -100 && number < 100;
        const auto whole =
            reads_float ? static_cast<std::int64_t>(is_small ? number : 0) : signed_of(from, bits);
        put(out, run, bits_of(to, static_cast<double>(whole)));
    }
}

}  // namespace peal::test
