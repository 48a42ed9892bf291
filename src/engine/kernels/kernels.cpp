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
Fold FoldOf(Element /*element*/, ReduceOp /*op*/) { return nullptr; }
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

Fold FoldOf(Element element, ReduceOp op) {
    switch (op) {
        case ReduceOp::sum: return FoldOfElements<Sum>(element);
        case ReduceOp::prod: return FoldOfElements<Prod>(element);
        case ReduceOp::max: return FoldOfElements<Max>(element);
        case ReduceOp::min: return FoldOfElements<Min>(element);
    }
    return nullptr;
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

HWY_EXPORT(FoldOf);
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

// Their number is known, and they are read before any is written: so there is no loop over them,
// and no question whether dst is one of the sources.
template <class T, std::size_t kCount>
void add_few(void* dst, const void* const* sources, std::size_t n, std::size_t /*bytes*/) {
    using Codec = scalar::Plain<T>;
    decltype(scalar::load<Codec>(dst, 0)) sums[kCount];
    for (std::size_t i = 0; i < kCount; ++i) sums[i] = scalar::load<Codec>(sources[0], i);
    for (std::size_t s = 1; s < n; ++s) {
        for (std::size_t i = 0; i < kCount; ++i) sums[i] += scalar::load<Codec>(sources[s], i);
    }
    for (std::size_t i = 0; i < kCount; ++i) scalar::store<Codec>(dst, i, sums[i]);
}

template <class T>
Fold add_few_of(std::size_t count) {
    static_assert(kFewElements == 4);
    switch (count) {
        case 1: return add_few<T, 1>;
        case 2: return add_few<T, 2>;
        case 3: return add_few<T, 3>;
        case 4: return add_few<T, 4>;
        default: return nullptr;
    }
}

// Most are sums. Those of integers wrap, so their sign makes no difference.
Fold fold_of_few(Element element, ReduceOp op, std::size_t count) {
    if (op != ReduceOp::sum) return nullptr;
    switch (element) {
        case Element::f32: return add_few_of<float>(count);
        case Element::f64: return add_few_of<double>(count);
        case Element::i32:
        case Element::u32: return add_few_of<std::uint32_t>(count);
        case Element::i64:
        case Element::u64: return add_few_of<std::uint64_t>(count);
        default: return nullptr;
    }
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
        reduce(element, op, piece, from, now);
        stream_bytes(to, piece, bytes);
        for (const void*& source : from) source = static_cast<const std::byte*>(source) + bytes;
        to += bytes;
        left -= now;
    }
}

}  // namespace

void detail::copy_long(void* dst, const void* src, std::size_t bytes, Stores stores) {
    if (stores == Stores::bypass) return stream_bytes(dst, src, bytes);
    if (is_for_string(bytes, stores)) return copy_string(dst, src, bytes);
    HWY_DYNAMIC_DISPATCH(CopyBytes)
    (static_cast<std::uint8_t*>(dst), static_cast<const std::uint8_t*>(src), bytes);
}

void reduce(Element element, ReduceOp op, void* dst, std::span<const void* const> sources,
            std::size_t count, Stores stores) {
    assert(!sources.empty());
    if (count == 0) return;
    if (stores == Stores::bypass) return reduce_streaming(element, op, dst, sources, count);
    const std::size_t bytes = count * bytes_of(element);
    const Fold fold = fold_for(element, op, bytes, stores);
    if (fold == nullptr) return scalar::reduce(element, op, dst, sources, count);
    fold(dst, sources.data(), sources.size(), bytes);
}

Fold fold_for(Element element, ReduceOp op, std::size_t bytes, Stores stores) {
    if (stores == Stores::bypass) return nullptr;
    const std::size_t count = bytes / bytes_of(element);
    return count <= kFewElements ? fold_of_few(element, op, count)
                                 : HWY_DYNAMIC_DISPATCH(FoldOf)(element, op);
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
