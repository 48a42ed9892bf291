// SPDX-License-Identifier: Apache-2.0
#include "golden/number.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "engine/kernels/scalar.hpp"

namespace peal::golden {
namespace {

template <class T>
T read(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
void write(std::byte* to, T value) {
    std::memcpy(to, &value, sizeof value);
}

Number real(double value) { return {true, value, 0}; }
Number whole(std::int64_t value) { return {false, 0, value}; }
Number natural(std::uint64_t bits) { return {false, 0, static_cast<std::int64_t>(bits), true}; }

std::int64_t wrapped(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }

template <class T>
T combine_plain(ReduceOp op, T a, T b) {
    switch (op) {
        case ReduceOp::sum: return a + b;
        case ReduceOp::prod: return a * b;
        case ReduceOp::max: return std::max(a, b);
        case ReduceOp::min: return std::min(a, b);
    }
    return T{};
}

// Sums and products of signed numbers wrap, as those of natural numbers do.
std::int64_t combine_whole(ReduceOp op, std::int64_t a, std::int64_t b) {
    if (op == ReduceOp::max || op == ReduceOp::min) return combine_plain(op, a, b);
    return wrapped(combine_plain(op, static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

}  // namespace

Number number_of(Element element, std::int64_t value) {
    if (is_float(element)) return real(static_cast<double>(value));
    return element == Element::u64 ? natural(static_cast<std::uint64_t>(value)) : whole(value);
}

Number load(Element element, const std::byte* from) {
    switch (element) {
        case Element::f16: return real(engine::scalar::f32_from_f16(read<std::uint16_t>(from)));
        case Element::bf16: return real(engine::scalar::f32_from_bf16(read<std::uint16_t>(from)));
        case Element::f32: return real(read<float>(from));
        case Element::f64: return real(read<double>(from));
        case Element::i8: return whole(read<std::int8_t>(from));
        case Element::i16: return whole(read<std::int16_t>(from));
        case Element::i32: return whole(read<std::int32_t>(from));
        case Element::i64: return whole(read<std::int64_t>(from));
        case Element::u8: return whole(read<std::uint8_t>(from));
        case Element::u16: return whole(read<std::uint16_t>(from));
        case Element::u32: return whole(read<std::uint32_t>(from));
        case Element::u64: return natural(read<std::uint64_t>(from));
    }
    return {};
}

void store(Element element, std::byte* to, const Number& number) {
    const auto f32 = static_cast<float>(number.real);
    switch (element) {
        case Element::f16: return write(to, engine::scalar::f16_from_f32(f32));
        case Element::bf16: return write(to, engine::scalar::bf16_from_f32(f32));
        case Element::f32: return write(to, f32);
        case Element::f64: return write(to, number.real);
        case Element::i8: return write(to, static_cast<std::int8_t>(number.whole));
        case Element::i16: return write(to, static_cast<std::int16_t>(number.whole));
        case Element::i32: return write(to, static_cast<std::int32_t>(number.whole));
        case Element::i64: return write(to, number.whole);
        case Element::u8: return write(to, static_cast<std::uint8_t>(number.whole));
        case Element::u16: return write(to, static_cast<std::uint16_t>(number.whole));
        case Element::u32: return write(to, static_cast<std::uint32_t>(number.whole));
        case Element::u64: return write(to, static_cast<std::uint64_t>(number.whole));
    }
}

Number combine(ReduceOp op, const Number& a, const Number& b) {
    if (a.floating) return real(combine_plain(op, a.real, b.real));
    if (!a.natural) return whole(combine_whole(op, a.whole, b.whole));
    return natural(combine_plain(op, static_cast<std::uint64_t>(a.whole),
                                 static_cast<std::uint64_t>(b.whole)));
}

std::string to_text(const Number& number) {
    if (number.floating) return fmt::format("{}", number.real);
    return number.natural ? fmt::format("{}", static_cast<std::uint64_t>(number.whole))
                          : fmt::format("{}", number.whole);
}

}  // namespace peal::golden
