// SPDX-License-Identifier: Apache-2.0
// The tile instructions. Each is issued and returns at once; flags (intrinsic.h) say when it is
// done.
#pragma once

#include "intrinsic.h"
#include "pto/common/pto_tile.hpp"

namespace pto {

// Where the tile is in tile memory, in bytes.
template <class TileData, class Offset>
void TASSIGN(TileData& tile, Offset offset) {
    tile.assign(static_cast<std::uint64_t>(offset));
}

// ---------------------------------------------------------------------------- memory, MTE2 and
// MTE3

template <class TileData, class Global>
void TLOAD(TileData& tile, const Global& global,
           const trace::Where& where = trace::Where::current()) {
    trace::Operation operation = trace::begin(trace::Op::load, "TLOAD", where);
    operation.tile[0] = tile.operand();
    operation.memory[0] = detail::memory_operand(global);
    trace::end(operation);
}

template <AtomicType kAtomic = AtomicType::AtomicNone, class Global, class TileData>
void TSTORE(const Global& global, const TileData& tile,
            const trace::Where& where = trace::Where::current()) {
    trace::Operation operation =
        trace::begin(kAtomic == AtomicType::AtomicAdd ? trace::Op::store_add : trace::Op::store,
                     "TSTORE", where);
    operation.tile[0] = tile.operand();
    operation.memory[0] = detail::memory_operand(global);
    trace::end(operation);
}

// ---------------------------------------------------------------------------- vector work, V

namespace detail {

template <class Dst, class A, class B>
void binary(trace::Op op, const char* name, const Dst& dst, const A& a, const B& b,
            const trace::Where& where) {
    trace::Operation operation = trace::begin(op, name, where);
    operation.tile[0] = dst.operand();
    operation.tile[1] = a.operand();
    operation.tile[2] = b.operand();
    trace::end(operation);
}

template <class Dst, class Src>
void unary(trace::Op op, const char* name, const Dst& dst, const Src& src, double scalar,
           const trace::Where& where) {
    trace::Operation operation = trace::begin(op, name, where);
    operation.tile[0] = dst.operand();
    operation.tile[1] = src.operand();
    operation.scalar = scalar;
    trace::end(operation);
}

}  // namespace detail

// dst = a op b, element by element; dst may be a or b.
template <class Dst, class A, class B>
void TADD(Dst& dst, const A& a, const B& b, const trace::Where& where = trace::Where::current()) {
    detail::binary(trace::Op::add, "TADD", dst, a, b, where);
}
template <class Dst, class A, class B>
void TMUL(Dst& dst, const A& a, const B& b, const trace::Where& where = trace::Where::current()) {
    detail::binary(trace::Op::mul, "TMUL", dst, a, b, where);
}
template <class Dst, class A, class B>
void TMAX(Dst& dst, const A& a, const B& b, const trace::Where& where = trace::Where::current()) {
    detail::binary(trace::Op::max, "TMAX", dst, a, b, where);
}
template <class Dst, class A, class B>
void TMIN(Dst& dst, const A& a, const B& b, const trace::Where& where = trace::Where::current()) {
    detail::binary(trace::Op::min, "TMIN", dst, a, b, where);
}

// dst = src + scalar, src * scalar, src, scalar.
template <class Dst, class Src, class Scalar>
void TADDS(Dst& dst, const Src& src, Scalar scalar,
           const trace::Where& where = trace::Where::current()) {
    detail::unary(trace::Op::add_scalar, "TADDS", dst, src, static_cast<double>(scalar), where);
}
template <class Dst, class Src, class Scalar>
void TMULS(Dst& dst, const Src& src, Scalar scalar,
           const trace::Where& where = trace::Where::current()) {
    detail::unary(trace::Op::mul_scalar, "TMULS", dst, src, static_cast<double>(scalar), where);
}
template <class Dst, class Src>
void TMOV(Dst& dst, const Src& src, const trace::Where& where = trace::Where::current()) {
    detail::unary(trace::Op::move, "TMOV", dst, src, 0, where);
}
template <class Dst, class Scalar>
void TEXPANDS(Dst& dst, Scalar scalar, const trace::Where& where = trace::Where::current()) {
    detail::unary(trace::Op::fill, "TEXPANDS", dst, dst, static_cast<double>(scalar), where);
}

// dst = src in dst's type: floats round to nearest even, also to integers, which saturate.
template <class Dst, class Src>
void TCVT(Dst& dst, const Src& src, const trace::Where& where = trace::Where::current()) {
    detail::unary(trace::Op::convert, "TCVT", dst, src, 0, where);
}

// dst, of one column, = the sum of each row of src. A third tile is scratch memory.
template <class Dst, class Src>
void TROWSUM(Dst& dst, const Src& src, const trace::Where& where = trace::Where::current()) {
    detail::unary(trace::Op::row_sum, "TROWSUM", dst, src, 0, where);
}
template <class Dst, class Src, class Scratch>
requires requires(const Scratch& tile) { tile.operand(); }
void TROWSUM(Dst& dst, const Src& src, Scratch& scratch,
             const trace::Where& where = trace::Where::current()) {
    detail::binary(trace::Op::row_sum, "TROWSUM", dst, src, scratch, where);
}

// ---------------------------------------------------------------------------- not supported

#define PEAL_PTO_NOT_SUPPORTED(name)                                                           \
    template <class... Arguments>                                                              \
    void name(Arguments&&...) {                                                                \
        static_assert(detail::kNever<Arguments...>, #name                                      \
                      " is not supported by Peal's PTO headers: see docs/pto.md for what is"); \
    }
PEAL_PTO_NOT_SUPPORTED(TABS)
PEAL_PTO_NOT_SUPPORTED(TAND)
PEAL_PTO_NOT_SUPPORTED(TBROADCAST)
PEAL_PTO_NOT_SUPPORTED(TCI)
PEAL_PTO_NOT_SUPPORTED(TCMP)
PEAL_PTO_NOT_SUPPORTED(TCMPS)
PEAL_PTO_NOT_SUPPORTED(TCOLEXPAND)
PEAL_PTO_NOT_SUPPORTED(TCOLMAX)
PEAL_PTO_NOT_SUPPORTED(TCOLMIN)
PEAL_PTO_NOT_SUPPORTED(TCOLSUM)
PEAL_PTO_NOT_SUPPORTED(TDIV)
PEAL_PTO_NOT_SUPPORTED(TDIVS)
PEAL_PTO_NOT_SUPPORTED(TEXP)
PEAL_PTO_NOT_SUPPORTED(TEXTRACT)
PEAL_PTO_NOT_SUPPORTED(TFILLPAD)
PEAL_PTO_NOT_SUPPORTED(TGATHER)
PEAL_PTO_NOT_SUPPORTED(TGATHERB)
PEAL_PTO_NOT_SUPPORTED(TLOG)
PEAL_PTO_NOT_SUPPORTED(TLRELU)
PEAL_PTO_NOT_SUPPORTED(TMATMUL)
PEAL_PTO_NOT_SUPPORTED(TMATMUL_ACC)
PEAL_PTO_NOT_SUPPORTED(TMAXS)
PEAL_PTO_NOT_SUPPORTED(TMINS)
PEAL_PTO_NOT_SUPPORTED(TMRGSORT)
PEAL_PTO_NOT_SUPPORTED(TNEG)
PEAL_PTO_NOT_SUPPORTED(TNOT)
PEAL_PTO_NOT_SUPPORTED(TOR)
PEAL_PTO_NOT_SUPPORTED(TPARTADD)
PEAL_PTO_NOT_SUPPORTED(TPREFETCH)
PEAL_PTO_NOT_SUPPORTED(TRECIP)
PEAL_PTO_NOT_SUPPORTED(TREDUCE)
PEAL_PTO_NOT_SUPPORTED(TRELU)
PEAL_PTO_NOT_SUPPORTED(TREM)
PEAL_PTO_NOT_SUPPORTED(TRESHAPE)
PEAL_PTO_NOT_SUPPORTED(TROWEXPAND)
PEAL_PTO_NOT_SUPPORTED(TROWMAX)
PEAL_PTO_NOT_SUPPORTED(TROWMIN)
PEAL_PTO_NOT_SUPPORTED(TRSQRT)
PEAL_PTO_NOT_SUPPORTED(TSCATTER)
PEAL_PTO_NOT_SUPPORTED(TSEL)
PEAL_PTO_NOT_SUPPORTED(TSELS)
PEAL_PTO_NOT_SUPPORTED(TSHL)
PEAL_PTO_NOT_SUPPORTED(TSHR)
PEAL_PTO_NOT_SUPPORTED(TSORT32)
PEAL_PTO_NOT_SUPPORTED(TSQRT)
PEAL_PTO_NOT_SUPPORTED(TSUB)
PEAL_PTO_NOT_SUPPORTED(TSUBS)
PEAL_PTO_NOT_SUPPORTED(TTRANS)
PEAL_PTO_NOT_SUPPORTED(TXOR)
#undef PEAL_PTO_NOT_SUPPORTED

}  // namespace pto
