// SPDX-License-Identifier: Apache-2.0
// How elements in memory become vectors and back. Compiled once per SIMD target.
//
// Each struct here has D, the vector's tag, and
//   Bytes()            bytes in memory of one vector's elements
//   Load(d, from), Store(d, v, to)
// A result is stored after Canonical() made it free of odd NaNs, so Store need not look at them.
#if defined(PEAL_ENGINE_KERNELS_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PEAL_ENGINE_KERNELS_LANES_INL
#undef PEAL_ENGINE_KERNELS_LANES_INL
#else
#define PEAL_ENGINE_KERNELS_LANES_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace peal::engine::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Memory has any alignment, so it is read and written as bytes.
template <class D>
HWY_INLINE hn::Vec<D> LoadBytes(D d, const std::uint8_t* from) {
    return hn::BitCast(d, hn::LoadU(hn::Repartition<std::uint8_t, D>(), from));
}
template <class D>
HWY_INLINE void StoreBytes(D /*d*/, hn::Vec<D> v, std::uint8_t* to) {
    const hn::Repartition<std::uint8_t, D> bytes;
    hn::StoreU(hn::BitCast(bytes, v), bytes, to);
}

template <class T>
struct PlainLanes {
    using D = hn::ScalableTag<T>;
    static HWY_INLINE std::size_t Bytes() { return hn::Lanes(D()) * sizeof(T); }
    static HWY_INLINE hn::Vec<D> Load(D d, const std::uint8_t* from) { return LoadBytes(d, from); }
    static HWY_INLINE void Store(D d, hn::Vec<D> v, std::uint8_t* to) { StoreBytes(d, v, to); }
};

using F32 = hn::ScalableTag<float>;
using U32 = hn::RebindToUnsigned<F32>;
using I32 = hn::RebindToSigned<F32>;
using U16 = hn::Rebind<std::uint16_t, F32>;

HWY_INLINE hn::Vec<U32> LoadWidened(const std::uint8_t* from) {
    return hn::PromoteTo(U32(), LoadBytes(U16(), from));
}
HWY_INLINE void StoreNarrowed(hn::Vec<U32> v, std::uint8_t* to) {
    StoreBytes(U16(), hn::DemoteTo(U16(), hn::BitCast(I32(), v)), to);
}

struct Bf16Lanes {
    using D = F32;
    static HWY_INLINE std::size_t Bytes() { return hn::Lanes(D()) * sizeof(std::uint16_t); }

    static HWY_INLINE hn::Vec<D> Load(D d, const std::uint8_t* from) {
        return hn::BitCast(d, hn::ShiftLeft<16>(LoadWidened(from)));
    }

    // Adding just under half a step, or half if the kept part is odd, rounds to nearest even; a
    // carry out of the mantissa is right too, up to infinity.
    static HWY_INLINE void Store(D /*d*/, hn::Vec<D> v, std::uint8_t* to) {
        const U32 u;
        const auto bits = hn::BitCast(u, v);
        const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 1));
        const auto rounded = hn::Add(hn::Add(bits, hn::Set(u, 0x7fff)), odd);
        StoreNarrowed(hn::ShiftRight<16>(rounded), to);
    }
};

// Highway's own f16 conversions are used where they are the hardware's. Its emulation elsewhere
// truncates, so there it is done here.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)

HWY_INLINE hn::Vec<F32> DecodeF16(const std::uint8_t* from) {
    const hn::Rebind<hwy::float16_t, F32> half;
    return hn::PromoteTo(F32(), hn::BitCast(half, LoadBytes(U16(), from)));
}
HWY_INLINE void EncodeF16(hn::Vec<F32> v, std::uint8_t* to) {
    const hn::Rebind<hwy::float16_t, F32> half;
    StoreBytes(U16(), hn::BitCast(U16(), hn::DemoteTo(half, v)), to);
}

#else

// Exponent and mantissa move to their place in f32; then the exponent's bias is corrected, twice
// for infinity and NaN. A denormal m becomes 2^-14 * (1 + m/1024), from which 2^-14 is subtracted.
HWY_INLINE hn::Vec<F32> DecodeF16(const std::uint8_t* from) {
    const U32 u;
    const auto half = LoadWidened(from);
    const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(u, 0x8000)));
    const auto shifted = hn::ShiftLeft<13>(hn::And(half, hn::Set(u, 0x7fff)));
    const auto exponent = hn::And(shifted, hn::Set(u, 0x1f << 23));
    const auto bias = hn::Set(u, (127 - 15) << 23);
    const auto special = hn::Eq(exponent, hn::Set(u, 0x1f << 23));
    const auto normal = hn::Add(hn::Add(shifted, bias), hn::IfThenElseZero(special, bias));
    const auto smallest_normal = hn::BitCast(F32(), hn::Set(u, (127 - 14) << 23));
    const auto denormal = hn::Sub(
        hn::BitCast(F32(), hn::Add(shifted, hn::BitCast(u, smallest_normal))), smallest_normal);
    const auto magnitude =
        hn::IfThenElse(hn::Eq(exponent, hn::Zero(u)), hn::BitCast(u, denormal), normal);
    return hn::BitCast(F32(), hn::Or(magnitude, sign));
}

// Normal results are rounded as bf16 is. For denormal ones a number is added that is so large that
// the addition itself rounds to units of 2^-24. From 65536 on the result is infinity or NaN.
HWY_INLINE void EncodeF16(hn::Vec<F32> v, std::uint8_t* to) {
    const U32 u;
    const auto bits = hn::BitCast(u, v);
    const auto sign = hn::And(bits, hn::Set(u, 0x80000000U));
    const auto magnitude = hn::Xor(bits, sign);

    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(u, 1));
    const auto rebiased = hn::Sub(magnitude, hn::Set(u, (127 - 15) << 23));
    const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(rebiased, hn::Set(u, 0xfff)), odd));

    const auto large = hn::Set(u, (127 - 24 + 23) << 23);
    const auto denormal = hn::Sub(
        hn::BitCast(u, hn::Add(hn::BitCast(F32(), magnitude), hn::BitCast(F32(), large))), large);

    // Magnitudes are below 2^31, so they compare as signed numbers, which every target can do.
    const I32 i;
    const auto signed_magnitude = hn::BitCast(i, magnitude);
    const auto is_nan = hn::Gt(signed_magnitude, hn::Set(i, 0x7f800000));
    const auto is_huge = hn::Gt(signed_magnitude, hn::Set(i, ((127 + 16) << 23) - 1));
    const auto is_small = hn::Lt(signed_magnitude, hn::Set(i, (127 - 14) << 23));
    const auto special =
        hn::IfThenElse(hn::RebindMask(u, is_nan), hn::Set(u, 0x7e00), hn::Set(u, 0x7c00));
    const auto finite = hn::IfThenElse(hn::RebindMask(u, is_small), denormal, normal);
    const auto result = hn::IfThenElse(hn::RebindMask(u, is_huge), special, finite);
    StoreNarrowed(hn::Or(result, hn::ShiftRight<16>(sign)), to);
}

#endif

struct F16Lanes {
    using D = F32;
    static HWY_INLINE std::size_t Bytes() { return hn::Lanes(D()) * sizeof(std::uint16_t); }
    static HWY_INLINE hn::Vec<D> Load(D /*d*/, const std::uint8_t* from) { return DecodeF16(from); }
    static HWY_INLINE void Store(D /*d*/, hn::Vec<D> v, std::uint8_t* to) { EncodeF16(v, to); }
};

}  // namespace peal::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
