// SPDX-License-Identifier: Apache-2.0
// This file is compiled once per SIMD target, and then once more for the functions that choose.
#include "engine/kernels/kernels.hpp"

#include <cassert>
#include <cstring>

#include "engine/kernels/scalar.hpp"

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
namespace peal::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// Without vectors there is nothing to gain over the oracle.
void Reduce(Element element, ReduceOp op, void* dst, std::span<const void* const> sources,
            std::size_t count) {
    scalar::reduce(element, op, dst, sources, count);
}
void Map(MapOp op, Element element, double scalar, void* dst, const void* src, std::size_t count) {
    scalar::map(op, element, scalar, dst, src, count);
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
    }
}

#endif

}  // namespace peal::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace peal::kernels {

HWY_EXPORT(Reduce);
HWY_EXPORT(Map);

// The C library's memcpy is dispatched at run time too, and knows when to bypass the cache.
void copy_bytes(void* dst, const void* src, std::size_t bytes) {
    if (bytes > 0) std::memcpy(dst, src, bytes);
}

void reduce(Element element, ReduceOp op, void* dst, std::span<const void* const> sources,
            std::size_t count) {
    assert(!sources.empty());
    if (count > 0) HWY_DYNAMIC_DISPATCH(Reduce)(element, op, dst, sources, count);
}

void map(MapOp op, Element element, double scalar, void* dst, const void* src, std::size_t count) {
    if (count > 0) HWY_DYNAMIC_DISPATCH(Map)(op, element, scalar, dst, src, count);
}

}  // namespace peal::kernels

#endif  // HWY_ONCE
