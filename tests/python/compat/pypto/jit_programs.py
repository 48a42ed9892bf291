# SPDX-License-Identifier: Apache-2.0
"""Programs written as functions."""

import pypto.language as pl
import pypto.language.distributed as pld

N = 12
NR = pl.dynamic("NR")


@pl.jit.incore
def shift_kernel(
    x: pl.Tensor[[1, N], pl.FP32],
    y: pl.Out[pl.Tensor[[1, N], pl.FP32]],
    data: pld.DistributedTensor[[1, N], pl.FP32],
    sig: pld.DistributedTensor[[NR, 1], pl.INT32],
):
    """To the right."""
    me = pld.rank(pld.get_comm_ctx(data))
    pld.tensor.put(data, (me + 1) % NR, x)
    pld.tensor.barrier(sig)
    y = pl.store(pl.load(data, [0, 0], [1, N]), [0, 0], y)
    return y


@pl.jit
def shift_chip(
    x: pl.Tensor[[1, N], pl.FP32],
    y: pl.Out[pl.Tensor[[1, N], pl.FP32]],
    data: pld.DistributedTensor[[1, N], pl.FP32],
    sig: pld.DistributedTensor[[NR, 1], pl.INT32],
):
    return shift_kernel(x, y, data, sig)


@pl.jit.host
def shift(xs: pl.Tensor[[NR, 1, N], pl.FP32], ys: pl.Out[pl.Tensor[[NR, 1, N], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, N], dtype=pl.FP32)
    sig_buf = pld.alloc_window_buffer([pld.world_size(), 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        data = pld.window(data_buf, [1, N], dtype=pl.FP32)
        sig = pld.window(sig_buf, [pld.world_size(), 1], dtype=pl.INT32)
        shift_chip(xs[r], ys[r], data, sig, device=r)


def difference(nr):
    """Annotations without shapes, a captured number, and functions that a factory makes."""

    @pl.jit.inline
    def minus(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
        rows, cols = a.shape
        out[0:rows, 0:cols] = pl.sub(a, b)
        return out

    @pl.jit.incore(level=pl.Level.CORE_GROUP)
    def kernel(x: pl.Tensor, y: pl.Out[pl.Tensor], got: pld.DistributedTensor, sig: pld.DistributedTensor, me: pl.Scalar[pl.INT32]):
        pld.tensor.put(got, (me + 1) % nr, x)
        pld.tensor.barrier(sig)
        y = minus(x, got, y)
        return y

    @pl.jit
    def chip(x: pl.Tensor, y: pl.Out[pl.Tensor], got: pld.DistributedTensor, sig: pld.DistributedTensor, me: pl.Scalar[pl.INT32]):
        y = kernel(x, y, got, sig, me)
        return y

    @pl.jit.host
    def host(xs: pl.Tensor, ys: pl.Out[pl.Tensor]):
        ranks, rows, cols = xs.shape
        got_buf = pld.alloc_window_buffer([rows, cols], dtype=xs.dtype)
        sig_buf = pld.alloc_window_buffer([nr, 1], dtype=pl.INT32)
        for r in pl.range(ranks):
            got = pld.window(got_buf, [rows, cols], dtype=xs.dtype)
            sig = pld.window(sig_buf, [nr, 1], dtype=pl.INT32)
            chip(xs[r], ys[r], got, sig, r, device=r)

    return host
