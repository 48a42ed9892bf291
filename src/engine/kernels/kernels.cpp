// SPDX-License-Identifier: Apache-2.0
// This file is compiled once per SIMD target, and then once more for the functions that choose.
#include "engine/kernels/kernels.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

#include <hwy/cache_control.h>

#include "engine/kernels/codec.hpp"
#include "engine/kernels/scalar.hpp"
#include "engine/kernels/strings.hpp"

// Targets whose extra instructions are of no use here would only cost time to compile.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
#include "engine/kernels/fold-inl.hpp"
#endif

HWY_BEFORE_NAMESPACE();
namespace peal::engine::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// Without vectors there is nothing to gain over the oracle.
void Reduce(Element element, ReduceOp op, void* dst, std::span<const void* const> sources,
            std::size_t count) {
    scalar::reduce(element, op, dst, sources, count);
}
void Map(MapOp op, Element element, double scalar, void* dst, const void* src, std::size_t count) {
    scalar::map(op, element, scalar, dst, src, count);
}
void Convert(Element to, Element from, void* dst, const void* src, std::size_t count) {
    scalar::convert(to, from, dst, src, count);
}
void CopyBytes(std::uint8_t* dst, const std::uint8_t* src, std::size_t bytes) {
    std::memcpy(dst, src, bytes);
}
void StreamBytes(std::uint8_t* dst, const std::uint8_t* src, std::size_t bytes) {
    std::memcpy(dst, src, bytes);
}

#else

void Reduce(Element element, ReduceOp op, void* dst, std::span<const void* const> sources,
            std::size_t count) {
    auto* to = static_cast<std::uint8_t*>(dst);
    const Sources from{sources.data(), sources.size()};
    const std::size_t bytes = count * bytes_of(element);
    switch (op) {
        case ReduceOp::sum: return FoldElements<Sum>(element, to, from, bytes);
        case ReduceOp::prod: return FoldElements<Prod>(element, to, from, bytes);
        case ReduceOp::max: return FoldElements<Max>(element, to, from, bytes);
        case ReduceOp::min: return FoldElements<Min>(element, to, from, bytes);
    }
}

void Map(MapOp op, Element element, double scalar, void* dst, const void* src, std::size_t count) {
    auto* to = static_cast<std::uint8_t*>(dst);
    const auto* from = static_cast<const std::uint8_t*>(src);
    const std::size_t bytes = count * bytes_of(element);
    switch (element) {
        case Element::f16: return MapElements<F16Lanes>(op, scalar, to, from, bytes);
        case Element::bf16: return MapElements<Bf16Lanes>(op, scalar, to, from, bytes);
        case Element::f32: return MapElements<PlainLanes<float>>(op, scalar, to, from, bytes);
        case Element::f64: return MapElements<PlainLanes<double>>(op, scalar, to, from, bytes);
        case Element::i8: return MapElements<PlainLanes<std::int8_t>>(op, scalar, to, from, bytes);
        case Element::i16:
            return MapElements<PlainLanes<std::int16_t>>(op, scalar, to, from, bytes);
        case Element::i32:
            return MapElements<PlainLanes<std::int32_t>>(op, scalar, to, from, bytes);
        case Element::i64:
            return MapElements<PlainLanes<std::int64_t>>(op, scalar, to, from, bytes);
        case Element::u8: return MapElements<PlainLanes<std::uint8_t>>(op, scalar, to, from, bytes);
        case Element::u16:
            return MapElements<PlainLanes<std::uint16_t>>(op, scalar, to, from, bytes);
        case Element::u32:
            return MapElements<PlainLanes<std::uint32_t>>(op, scalar, to, from, bytes);
        case Element::u64:
            return MapElements<PlainLanes<std::uint64_t>>(op, scalar, to, from, bytes);
    }
}

template <class From>
void ConvertFrom(Element to, Element from, void* dst, const void* src, std::size_t count) {
    auto* bytes = static_cast<std::uint8_t*>(dst);
    const auto* source = static_cast<const std::uint8_t*>(src);
    switch (to) {
        case Element::f16: return ConvertElements<From, F16Lanes>(bytes, source, count);
        case Element::bf16: return ConvertElements<From, Bf16Lanes>(bytes, source, count);
        case Element::f32: return ConvertElements<From, PlainLanes<float>>(bytes, source, count);
        default: return scalar::convert(to, from, dst, src, count);
    }
}

void Convert(Element to, Element from, void* dst, const void* src, std::size_t count) {
    switch (from) {
        case Element::f16: return ConvertFrom<F16Lanes>(to, from, dst, src, count);
        case Element::bf16: return ConvertFrom<Bf16Lanes>(to, from, dst, src, count);
        case Element::f32: return ConvertFrom<PlainLanes<float>>(to, from, dst, src, count);
        default: return scalar::convert(to, from, dst, src, count);
    }
}

#endif

}  // namespace peal::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace peal::engine::kernels {

HWY_EXPORT(Reduce);
HWY_EXPORT(Map);
HWY_EXPORT(Convert);
HWY_EXPORT(CopyBytes);
HWY_EXPORT(StreamBytes);

namespace {

void stream_bytes(void* dst, const void* src, std::size_t bytes) {
    HWY_DYNAMIC_DISPATCH(StreamBytes)
    (static_cast<std::uint8_t*>(dst), static_cast<const std::uint8_t*>(src), bytes);
}

// A string instruction takes some time to begin.
bool is_for_string(std::size_t bytes, Stores stores) {
    constexpr std::size_t kShort = 2 << 10;
    return stores == Stores::distant && bytes >= kShort && has_quick_strings();
}

// So few are done sooner one by one than by filling a vector with them.
constexpr std::size_t kFewElements = 4;

template <class Codec>
void add_few(void* dst, std::span<const void* const> sources, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        auto sum = scalar::load<Codec>(sources[0], i);
        for (const void* source : sources.subspan(1)) sum += scalar::load<Codec>(source, i);
        scalar::store<Codec>(dst, i, sum);
    }
}

// Most are sums of floats.
void reduce_few(Element element, ReduceOp op, void* dst, std::span<const void* const> sources,
                std::size_t count) {
    if (op == ReduceOp::sum && element == Element::f32) {
        return add_few<scalar::Plain<float>>(dst, sources, count);
    }
    if (op == ReduceOp::sum && element == Element::f64) {
        return add_few<scalar::Plain<double>>(dst, sources, count);
    }
    scalar::reduce(element, op, dst, sources, count);
}

// Piece by piece through a buffer that stays in the nearest cache: the folds need to know one way
// of storing only.
void reduce_streaming(Element element, ReduceOp op, void* dst, std::span<const void* const> sources,
                      std::size_t count) {
    constexpr std::size_t kPieceBytes = 4096;
    alignas(64) std::byte piece[kPieceBytes];
    std::vector<const void*> from(sources.begin(), sources.end());
    auto* to = static_cast<std::byte*>(dst);
    const std::size_t element_bytes = bytes_of(element);
    for (std::size_t left = count; left > 0;) {
        const std::size_t now = std::min(left, kPieceBytes / element_bytes);
        const std::size_t bytes = now * element_bytes;
        HWY_DYNAMIC_DISPATCH(Reduce)(element, op, piece, from, now);
        stream_bytes(to, piece, bytes);
        for (const void*& source : from) source = static_cast<const std::byte*>(source) + bytes;
        to += bytes;
        left -= now;
    }
}

}  // namespace

// The C library copies longer pieces with string instructions, or past the caches, on every
// processor; on most both are slow where the destination's lines are in another core's cache, which
// is where they are here.
void copy_bytes(void* dst, const void* src, std::size_t bytes, Stores stores) {
    constexpr std::size_t kShortCopy = 512;
    if (bytes == 0) return;
    if (stores == Stores::bypass) return stream_bytes(dst, src, bytes);
    if (bytes <= kShortCopy) {
        std::memcpy(dst, src, bytes);
        return;
    }
    if (is_for_string(bytes, stores)) return copy_string(dst, src, bytes);
    HWY_DYNAMIC_DISPATCH(CopyBytes)
    (static_cast<std::uint8_t*>(dst), static_cast<const std::uint8_t*>(src), bytes);
}

void reduce(Element element, ReduceOp op, void* dst, std::span<const void* const> sources,
            std::size_t count, Stores stores) {
    assert(!sources.empty());
    if (count == 0) return;
    if (stores == Stores::bypass) return reduce_streaming(element, op, dst, sources, count);
    if (count <= kFewElements) return reduce_few(element, op, dst, sources, count);
    HWY_DYNAMIC_DISPATCH(Reduce)(element, op, dst, sources, count);
}

void fence_streams() { hwy::FlushStream(); }

void map(MapOp op, Element element, double scalar, void* dst, const void* src, std::size_t count) {
    if (count > 0) HWY_DYNAMIC_DISPATCH(Map)(op, element, scalar, dst, src, count);
}

void convert(Element to, Element from, void* dst, const void* src, std::size_t count) {
    if (count > 0) HWY_DYNAMIC_DISPATCH(Convert)(to, from, dst, src, count);
}

void row_sum(Element element, void* dst, const void* src, std::size_t count) {
    scalar::row_sum(element, dst, src, count);
}

}  // namespace peal::engine::kernels

#endif  // HWY_ONCE
