// SPDX-License-Identifier: Apache-2.0
// The loops over memory. Compiled once per SIMD target.
#if defined(PEAL_ENGINE_KERNELS_FOLD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PEAL_ENGINE_KERNELS_FOLD_INL
#undef PEAL_ENGINE_KERNELS_FOLD_INL
#else
#define PEAL_ENGINE_KERNELS_FOLD_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/kernels/combine-inl.hpp"
#include "engine/kernels/lanes-inl.hpp"
#include "engine/kernels/scalar.hpp"
#include "peal/element.hpp"
#include "peal/plan.hpp"

HWY_BEFORE_NAMESPACE();
namespace peal::engine::kernels::HWY_NAMESPACE {

// A whole vector from memory.
template <class Lanes>
struct Whole {
    HWY_INLINE auto operator()(typename Lanes::D d, const std::uint8_t* from) const {
        return Lanes::Load(d, from);
    }
};

// The first bytes of a vector, zeros behind them.
template <class Lanes>
struct Part {
    std::size_t bytes;
    HWY_INLINE auto operator()(typename Lanes::D d, const std::uint8_t* from) const {
        HWY_ALIGN std::uint8_t padded[HWY_MAX_BYTES] = {};
        std::memcpy(padded, from, bytes);
        return Lanes::Load(d, padded);
    }
};

template <class Lanes>
HWY_INLINE void StorePart(typename Lanes::D d, hn::Vec<typename Lanes::D> v, std::uint8_t* to,
                          std::size_t bytes) {
    HWY_ALIGN std::uint8_t whole[HWY_MAX_BYTES];
    Lanes::Store(d, v, whole);
    std::memcpy(to, whole, bytes);
}

struct Sources {
    const void* const* first;
    std::size_t count;
    HWY_INLINE const std::uint8_t* at(std::size_t source, std::size_t offset) const {
        return static_cast<const std::uint8_t*>(first[source]) + offset;
    }
};

template <class Lanes, class Op, class Load>
HWY_INLINE auto FoldVector(const Sources& sources, std::size_t offset, Load load) {
    const typename Lanes::D d;
    auto result = Op::Enter(d, load(d, sources.at(0, offset)));
    for (std::size_t s = 1; s < sources.count; ++s) {
        result = Op::Combine(d, result, Op::Enter(d, load(d, sources.at(s, offset))));
    }
    return Op::Leave(d, result);
}

// Four vectors at a time: the loop over the sources then costs little beside the loads, and whole
// cache lines of each source are taken in one go.
template <class Lanes, class Op>
HWY_INLINE void FoldBlock(std::uint8_t* dst, const Sources& sources, std::size_t offset,
                          std::size_t step) {
    const typename Lanes::D d;
    const std::uint8_t* from = sources.at(0, offset);
    auto a = Op::Enter(d, Lanes::Load(d, from));
    auto b = Op::Enter(d, Lanes::Load(d, from + step));
    auto c = Op::Enter(d, Lanes::Load(d, from + 2 * step));
    auto e = Op::Enter(d, Lanes::Load(d, from + 3 * step));
    for (std::size_t s = 1; s < sources.count; ++s) {
        from = sources.at(s, offset);
        a = Op::Combine(d, a, Op::Enter(d, Lanes::Load(d, from)));
        b = Op::Combine(d, b, Op::Enter(d, Lanes::Load(d, from + step)));
        c = Op::Combine(d, c, Op::Enter(d, Lanes::Load(d, from + 2 * step)));
        e = Op::Combine(d, e, Op::Enter(d, Lanes::Load(d, from + 3 * step)));
    }
    Lanes::Store(d, Op::Leave(d, a), dst + offset);
    Lanes::Store(d, Op::Leave(d, b), dst + offset + step);
    Lanes::Store(d, Op::Leave(d, c), dst + offset + 2 * step);
    Lanes::Store(d, Op::Leave(d, e), dst + offset + 3 * step);
}

template <class Lanes, class Op>
void FoldAll(void* to, const void* const* from, std::size_t n, std::size_t bytes) {
    const typename Lanes::D d;
    const Sources sources{from, n};
    auto* const dst = static_cast<std::uint8_t*>(to);
    const std::size_t step = Lanes::Bytes();
    std::size_t offset = 0;
    for (; offset + 4 * step <= bytes; offset += 4 * step) {
        FoldBlock<Lanes, Op>(dst, sources, offset, step);
    }
    for (; offset + step <= bytes; offset += step) {
        Lanes::Store(d, FoldVector<Lanes, Op>(sources, offset, Whole<Lanes>{}), dst + offset);
    }
    if (offset < bytes) {
        const std::size_t rest = bytes - offset;
        StorePart<Lanes>(d, FoldVector<Lanes, Op>(sources, offset, Part<Lanes>{rest}), dst + offset,
                         rest);
    }
}

template <class Op>
Fold FoldOfElements(Element element) {
    switch (element) {
        case Element::f16: return FoldAll<F16Lanes, Op>;
        case Element::bf16: return FoldAll<Bf16Lanes, Op>;
        case Element::f32: return FoldAll<PlainLanes<float>, Op>;
        case Element::f64: return FoldAll<PlainLanes<double>, Op>;
        case Element::i8: return FoldAll<PlainLanes<std::int8_t>, Op>;
        case Element::i16: return FoldAll<PlainLanes<std::int16_t>, Op>;
        case Element::i32: return FoldAll<PlainLanes<std::int32_t>, Op>;
        case Element::i64: return FoldAll<PlainLanes<std::int64_t>, Op>;
        case Element::u8: return FoldAll<PlainLanes<std::uint8_t>, Op>;
        case Element::u16: return FoldAll<PlainLanes<std::uint16_t>, Op>;
        case Element::u32: return FoldAll<PlainLanes<std::uint32_t>, Op>;
        case Element::u64: return FoldAll<PlainLanes<std::uint64_t>, Op>;
    }
    return nullptr;
}

// Four vectors at a time from `offset` on; returns where it ended, less than four from the end.
template <class Store>
HWY_INLINE std::size_t CopyBlocks(std::uint8_t* dst, const std::uint8_t* src, std::size_t offset,
                                  std::size_t bytes, Store store) {
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t step = hn::Lanes(d);
    for (; offset + 4 * step <= bytes; offset += 4 * step) {
        const auto a = hn::LoadU(d, src + offset);
        const auto b = hn::LoadU(d, src + offset + step);
        const auto c = hn::LoadU(d, src + offset + 2 * step);
        const auto e = hn::LoadU(d, src + offset + 3 * step);
        store(d, a, dst + offset);
        store(d, b, dst + offset + step);
        store(d, c, dst + offset + 2 * step);
        store(d, e, dst + offset + 3 * step);
    }
    return offset;
}

struct StoreCached {
    template <class D>
    HWY_INLINE void operator()(D d, hn::Vec<D> v, std::uint8_t* to) const {
        hn::StoreU(v, d, to);
    }
};
struct StoreStreaming {
    template <class D>
    HWY_INLINE void operator()(D d, hn::Vec<D> v, std::uint8_t* to) const {
        hn::Stream(v, d, to);
    }
};

inline void CopyBytes(std::uint8_t* dst, const std::uint8_t* src, std::size_t bytes) {
    const std::size_t copied = CopyBlocks(dst, src, 0, bytes, StoreCached());
    std::memcpy(dst + copied, src + copied, bytes - copied);
}

// Copies without reading the lines of dst first. Streams want whole aligned vectors; the two ends
// are copied plainly.
inline void StreamBytes(std::uint8_t* dst, const std::uint8_t* src, std::size_t bytes) {
    const std::size_t step = hn::Lanes(hn::ScalableTag<std::uint8_t>());
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(dst) % step;
    const std::size_t begin = std::min(bytes, misaligned == 0 ? 0 : step - misaligned);
    std::memcpy(dst, src, begin);
    const std::size_t copied = CopyBlocks(dst, src, begin, bytes, StoreStreaming());
    std::memcpy(dst + copied, src + copied, bytes - copied);
}

template <class D>
HWY_INLINE auto Broadcast(D d, double scalar) {
    using T = hn::TFromD<D>;
    if constexpr (kIsFloat<D>) {
        return hn::Set(d, static_cast<T>(scalar));
    } else {
        return hn::Set(d, scalar::integer_from_scalar<T>(scalar));
    }
}

template <class Lanes>
void Fill(double scalar, std::uint8_t* dst, std::size_t bytes) {
    const typename Lanes::D d;
    const auto value = Canonical(d, Broadcast(d, scalar));
    const std::size_t step = Lanes::Bytes();
    std::size_t offset = 0;
    for (; offset + step <= bytes; offset += step) Lanes::Store(d, value, dst + offset);
    StorePart<Lanes>(d, value, dst + offset, bytes - offset);
}

template <class Lanes, class Op>
void CombineScalar(double scalar, std::uint8_t* dst, const std::uint8_t* src, std::size_t bytes) {
    const typename Lanes::D d;
    const auto operand = Broadcast(d, scalar);
    const std::size_t step = Lanes::Bytes();
    std::size_t offset = 0;
    for (; offset + step <= bytes; offset += step) {
        const auto result = Op::Combine(d, Lanes::Load(d, src + offset), operand);
        Lanes::Store(d, Op::Leave(d, result), dst + offset);
    }
    if (offset < bytes) {
        const Part<Lanes> load{bytes - offset};
        const auto result = Op::Combine(d, load(d, src + offset), operand);
        StorePart<Lanes>(d, Op::Leave(d, result), dst + offset, bytes - offset);
    }
}

// Between types that are both seen as f32.
template <class From, class To>
void ConvertElements(std::uint8_t* dst, const std::uint8_t* src, std::size_t count) {
    const F32 d;
    const std::size_t step = hn::Lanes(d);
    const std::size_t from_bytes = From::Bytes() / step, to_bytes = To::Bytes() / step;
    std::size_t i = 0;
    for (; i + step <= count; i += step) {
        To::Store(d, Canonical(d, From::Load(d, src + i * from_bytes)), dst + i * to_bytes);
    }
    if (i < count) {
        const Part<From> load{(count - i) * from_bytes};
        StorePart<To>(d, Canonical(d, load(d, src + i * from_bytes)), dst + i * to_bytes,
                      (count - i) * to_bytes);
    }
}

template <class Lanes>
void MapElements(MapOp op, double scalar, std::uint8_t* dst, const std::uint8_t* src,
                 std::size_t bytes) {
    switch (op) {
        case MapOp::fill: return Fill<Lanes>(scalar, dst, bytes);
        case MapOp::add_scalar: return CombineScalar<Lanes, Sum>(scalar, dst, src, bytes);
        case MapOp::mul_scalar: return CombineScalar<Lanes, Prod>(scalar, dst, src, bytes);
        case MapOp::convert:
        case MapOp::row_sum:
        case MapOp::clobber: HWY_DASSERT(false);
    }
}

}  // namespace peal::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
