// SPDX-License-Identifier: Apache-2.0
// The data work of instructions, at the speed of the memory. Run-time dispatched SIMD; scalar.hpp
// has the same functions written plainly, and gives the same bits.
//
// Any alignment and any count, also 0.
//
// What a result is, exactly:
//   integers    wrap around.
//   f16, bf16   are widened to f32, combined there, and rounded to nearest even once, at the end.
//               What is then too large becomes an infinity; denormals are kept.
//   max, min    are IEEE 754-2019 maximum and minimum: a NaN anywhere gives NaN, and -0 < +0. So
//               they do not depend on the order of the sources.
//   convert     goes to the nearest, to even where two are as near; integers saturate when they
//               come from floats (NaN becomes 0) and wrap when they come from integers.
//   NaN         has one form: a result that is NaN is the quiet NaN with positive sign and no
//               payload (f32: 0x7fc00000), whatever NaN went in, also with a single source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "peal/element.hpp"
#include "peal/plan.hpp"

namespace peal::engine::kernels {

// Where results go.
enum class Stores : std::uint8_t {
    cached,
    distant,  // to lines that the nearest cache has not: another core or a further cache has them.
              // Copies make use of it
    bypass,   // to where nobody reads them soon: they do not pass through the caches, and
              // fence_streams() must follow before others are told of them
};

// A few bytes cost more to hand to a function than to copy.
inline constexpr std::size_t kFewBytes = 64;
inline void copy_few(void* dst, const void* src, std::size_t bytes);

// The ranges do not overlap.
inline void copy_bytes(void* dst, const void* src, std::size_t bytes,
                       Stores stores = Stores::cached);

// dst[i] = sources[0][i] op sources[1][i] op ..., a left fold in one pass. At least one source; dst
// may equal any of them, but does not overlap one in part.
void reduce(Element element, ReduceOp op, void* dst, std::span<const void* const> sources,
            std::size_t count, Stores stores = Stores::cached);

// The same for one element type, operation and size, chosen once: of `n` sources, as many bytes of
// each. Null: there is none, and reduce() does it.
using Fold = void (*)(void* dst, const void* const* sources, std::size_t n, std::size_t bytes);
Fold fold_for(Element element, ReduceOp op, std::size_t bytes, Stores stores);

// Orders the stores that bypassed the caches before every later store.
void fence_streams();

// dst[i] += src[i], each element atomically but not ordered with anything else: a release must
// follow before others are told of it. dst is aligned to its elements.
void accumulate(Element element, void* dst, const void* src, std::size_t count);

// dst[i] = src[i], from one type to another. dst may equal src if the sizes of the two do.
void convert(Element to, Element from, void* dst, const void* src, std::size_t count);

// dst[0] = src[0] + src[1] + ..., a left fold. At least one element.
void row_sum(Element element, void* dst, const void* src, std::size_t count);

// fill, add_scalar and mul_scalar:
// dst[i] = scalar, src[i] + scalar or src[i] * scalar. The scalar is first converted: for f64 it is
// taken as it is, for the other floats it is rounded to f32, for integers it is truncated towards
// zero to i64 (u64 for u64; saturating, NaN is 0) and wraps. dst may equal src; fill ignores src.
void map(MapOp op, Element element, double scalar, void* dst, const void* src, std::size_t count);

namespace detail {

void copy_long(void* dst, const void* src, std::size_t bytes, Stores stores);

// The first and the last kPiece of at least as many; they may overlap.
template <std::size_t kPiece>
inline void copy_ends(void* dst, const void* src, std::size_t bytes) {
    std::byte first[kPiece], last[kPiece];
    std::memcpy(first, src, kPiece);
    std::memcpy(last, static_cast<const std::byte*>(src) + bytes - kPiece, kPiece);
    std::memcpy(dst, first, kPiece);
    std::memcpy(static_cast<std::byte*>(dst) + bytes - kPiece, last, kPiece);
}

}  // namespace detail

// The C library copies longer pieces with string instructions, or past the caches, on every
// processor; on most both are slow where the destination's lines are in another core's cache, which
// is where they are here.
inline void copy_bytes(void* dst, const void* src, std::size_t bytes, Stores stores) {
    constexpr std::size_t kShortCopy = 512;
    if (bytes > kShortCopy || stores == Stores::bypass) {
        detail::copy_long(dst, src, bytes, stores);
    } else if (bytes > 0) {
        std::memcpy(dst, src, bytes);
    }
}

inline void copy_few(void* dst, const void* src, std::size_t bytes) {
    if (bytes > 32) return detail::copy_ends<32>(dst, src, bytes);
    if (bytes >= 16) return detail::copy_ends<16>(dst, src, bytes);
    if (bytes >= 8) return detail::copy_ends<8>(dst, src, bytes);
    if (bytes >= 4) return detail::copy_ends<4>(dst, src, bytes);
    if (bytes >= 2) return detail::copy_ends<2>(dst, src, bytes);
    if (bytes == 1) *static_cast<std::byte*>(dst) = *static_cast<const std::byte*>(src);
}

}  // namespace peal::engine::kernels
