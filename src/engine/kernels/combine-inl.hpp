// SPDX-License-Identifier: Apache-2.0
// The four reductions on vectors. Compiled once per SIMD target.
//
// A fold is Leave(Combine(Combine(Enter(a), Enter(b)), Enter(c))).
#if defined(PEAL_ENGINE_KERNELS_COMBINE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PEAL_ENGINE_KERNELS_COMBINE_INL
#undef PEAL_ENGINE_KERNELS_COMBINE_INL
#else
#define PEAL_ENGINE_KERNELS_COMBINE_INL
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace peal::engine::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
inline constexpr bool kIsFloat = std::is_floating_point_v<hn::TFromD<D>>;

template <class D>
HWY_INLINE hn::Vec<D> Canonical(D d, hn::Vec<D> v) {
    if constexpr (kIsFloat<D>) {
        const auto nan = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::quiet_NaN());
        return hn::IfThenElse(hn::IsNaN(v), nan, v);
    } else {
        return v;
    }
}

// Even and odd bytes are multiplied as 16-bit numbers, whose low half is the product of the low
// halves.
template <class D>
HWY_INLINE hn::Vec<D> MultiplyBytes(D d, hn::Vec<D> a, hn::Vec<D> b) {
    const hn::Repartition<std::uint16_t, D> wide;
    const auto x = hn::BitCast(wide, a);
    const auto y = hn::BitCast(wide, b);
    const auto even = hn::And(hn::Mul(x, y), hn::Set(wide, 0x00ff));
    const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(x), hn::ShiftRight<8>(y)));
    return hn::BitCast(d, hn::Or(even, odd));
}

// The smaller one, -0 before +0, NaN if either is. Selecting with < and with > gives the same
// number twice, except for zeros and NaNs, where it gives both operands; their union is -0 or NaN.
template <class D>
HWY_INLINE hn::Vec<D> Smaller(D /*d*/, hn::Vec<D> a, hn::Vec<D> b) {
    return hn::Or(hn::IfThenElse(hn::Lt(a, b), a, b), hn::IfThenElse(hn::Lt(b, a), b, a));
}

// Operands are combined as they are.
struct AsTheyAre {
    template <class D>
    static HWY_INLINE hn::Vec<D> Enter(D /*d*/, hn::Vec<D> v) {
        return v;
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Leave(D d, hn::Vec<D> v) {
        return Canonical(d, v);
    }
};

struct Sum : AsTheyAre {
    template <class D>
    static HWY_INLINE hn::Vec<D> Combine(D d, hn::Vec<D> a, hn::Vec<D> b) {
        if constexpr (kIsFloat<D>) {
            return hn::Add(a, b);
        } else {
            const hn::RebindToUnsigned<D> u;
            return hn::BitCast(d, hn::Add(hn::BitCast(u, a), hn::BitCast(u, b)));
        }
    }
};

struct Prod : AsTheyAre {
    template <class D>
    static HWY_INLINE hn::Vec<D> Combine(D d, hn::Vec<D> a, hn::Vec<D> b) {
        if constexpr (kIsFloat<D>) {
            return hn::Mul(a, b);
        } else if constexpr (sizeof(hn::TFromD<D>) == 1) {
            return MultiplyBytes(d, a, b);
        } else {
            const hn::RebindToUnsigned<D> u;
            return hn::BitCast(d, hn::Mul(hn::BitCast(u, a), hn::BitCast(u, b)));
        }
    }
};

struct Min : AsTheyAre {
    template <class D>
    static HWY_INLINE hn::Vec<D> Combine(D d, hn::Vec<D> a, hn::Vec<D> b) {
        if constexpr (kIsFloat<D>) {
            return Smaller(d, a, b);
        } else {
            return hn::Min(a, b);
        }
    }
};

// The maximum of floats is the minimum of their negatives, negated.
struct Max {
    template <class D>
    static HWY_INLINE hn::Vec<D> Enter(D /*d*/, hn::Vec<D> v) {
        if constexpr (kIsFloat<D>) {
            return hn::Neg(v);
        } else {
            return v;
        }
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Combine(D d, hn::Vec<D> a, hn::Vec<D> b) {
        if constexpr (kIsFloat<D>) {
            return Smaller(d, a, b);
        } else {
            return hn::Max(a, b);
        }
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Leave(D d, hn::Vec<D> v) {
        return Canonical(d, Enter(d, v));
    }
};

}  // namespace peal::engine::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
