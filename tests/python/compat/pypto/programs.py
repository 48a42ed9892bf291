# SPDX-License-Identifier: Apache-2.0
"""Programs of the kind that is supported, one for each thing that they use. Each is a factory: `build(nr, n)`.

A comment `#: name` behind a line names it, so that tests can say where a counterexample must point.
"""

import pypto.language as pl
import pypto.language.distributed as pld

SIZE = 12


def mesh_allreduce(nr, n=SIZE):
    """Stage, ring everybody, read everybody: the hand-written mesh."""

    @pl.program
    class MeshAllreduce:
        """Sums over all ranks."""

        @pl.function(type=pl.FunctionType.InCore)
        def reduce(
            self,
            x: pl.Tensor[[1, n], pl.FP32],
            y: pl.Out[pl.Tensor[[1, n], pl.FP32]],
            data: pld.DistributedTensor[[1, n], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[nr, 1], pl.INT32]],
        ):
            """Every rank reads every other."""
            ctx = pld.get_comm_ctx(data)
            my_rank = pld.rank(ctx)
            nranks = pld.nranks(ctx)
            mine = pl.load(x, [0, 0], [1, n])
            data = pl.store(mine, [0, 0], data)
            for peer in pl.range(nranks):
                if peer != my_rank:
                    pld.system.notify(sig, peer=peer, offsets=[my_rank, 0], value=1, op=pld.NotifyOp.AtomicAdd)
            for peer in pl.range(nranks):
                if peer != my_rank:
                    pld.system.wait(sig, offsets=[peer, 0], expected=1, cmp=pld.WaitCmp.Ge)
            acc = pl.load(data, [0, 0], [1, n])
            for peer in pl.range(nranks):
                if peer != my_rank:
                    theirs = pld.tile.remote_load(data, peer=peer, offsets=[0, 0], shape=[1, n])
                    acc = pl.add(acc, theirs)
            y = pl.store(acc, [0, 0], y)
            return y

        @pl.function(type=pl.FunctionType.Orchestration)
        def chip(
            self,
            x: pl.Tensor[[1, n], pl.FP32],
            y: pl.Out[pl.Tensor[[1, n], pl.FP32]],
            data: pld.DistributedTensor[[1, n], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[nr, 1], pl.INT32]],
        ) -> pl.Tensor[[1, n], pl.FP32]:
            y = self.reduce(x, y, data, sig)
            return y

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(
            self, xs: pl.Tensor[[nr, 1, n], pl.FP32], ys: pl.Out[pl.Tensor[[nr, 1, n], pl.FP32]]
        ) -> pl.Tensor[[nr, 1, n], pl.FP32]:
            data_buf = pld.alloc_window_buffer(n * pl.FP32.get_byte())
            sig_buf = pld.alloc_window_buffer(nr * pl.INT32.get_byte())
            for r in pl.range(pld.world_size()):
                data = pld.window(data_buf, [1, n], dtype=pl.FP32)
                sig = pld.window(sig_buf, [nr, 1], dtype=pl.INT32)
                self.chip(xs[r], ys[r], data, sig, device=r)
            return ys

    return MeshAllreduce


def two_kernels(nr, n=SIZE):
    """One kernel fills the right neighbour's window and rings, the other waits and reads: under one orchestration."""

    @pl.program
    class TwoKernels:
        @pl.function(type=pl.FunctionType.InCore)
        def send(
            self,
            x: pl.Tensor[[1, n], pl.FP32],
            data: pld.DistributedTensor[[1, n], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
            to: pl.Scalar[pl.INT32],
        ):
            pld.tile.remote_store(pl.load(x, [0, 0], [1, n]), data, to, [0, 0])
            pld.system.notify(sig, to, [0, 0], 1, op=pld.NotifyOp.AtomicAdd)
            pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)

        @pl.function(type=pl.FunctionType.InCore)
        def take(self, y: pl.Out[pl.Tensor[[1, n], pl.FP32]], data: pld.DistributedTensor[[1, n], pl.FP32]):
            y = pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
            return y

        @pl.function(type=pl.FunctionType.Orchestration)
        def chip(
            self,
            x: pl.Tensor[[1, n], pl.FP32],
            y: pl.Out[pl.Tensor[[1, n], pl.FP32]],
            data: pld.DistributedTensor[[1, n], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
            to: pl.Scalar[pl.INT32],
        ):
            self.send(x, data, sig, to)
            y = self.take(y, data)
            return y

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, xs: pl.Tensor[[nr, 1, n], pl.FP32], ys: pl.Out[pl.Tensor[[nr, 1, n], pl.FP32]]):
            data_buf = pld.alloc_window_buffer(n * pl.FP32.get_byte())
            sig_buf = pld.alloc_window_buffer(pl.INT32.get_byte())
            data = pld.window(data_buf, [n], dtype=pl.FP32)
            sig = pld.window(sig_buf, [1, 1], dtype=pl.INT32)
            for r in pl.range(pld.world_size()):
                self.chip(xs[r], ys[r], data, sig, (r + 1) % nr, device=r)
            return ys

    return TwoKernels


NR = pl.dynamic("NR")
M = pl.dynamic("M")


@pl.program
class DynamicAllgather:
    """The number of ranks is a symbol, and a second one is the rank count times SIZE; it is made at import."""

    @pl.function(type=pl.FunctionType.InCore)
    def gather(
        self,
        x: pl.Tensor[[1, SIZE], pl.FP32],
        y: pl.Out[pl.Tensor[[1, M], pl.FP32]],
        data: pld.DistributedTensor[[1, SIZE], pl.FP32],
        sig: pl.InOut[pld.DistributedTensor[[NR, 1], pl.INT32]],
        my_rank: pl.Scalar[pl.INT32],
    ):
        mine = pl.load(x, [0, 0], [1, SIZE])
        pl.store(mine, [0, 0], data)
        for peer in pl.range(NR):
            if peer != my_rank:
                pld.system.notify(sig, peer, [my_rank, 0], 1, op=pld.NotifyOp.Set)
        for peer in pl.range(NR):
            if peer != my_rank:
                pld.system.wait(sig, [peer, 0], 1, cmp=pld.WaitCmp.Ge)
        for peer in pl.range(0, M, SIZE):
            tile = pld.tile.remote_load(data, peer=peer // SIZE, offsets=[0, 0], shape=[1, SIZE])
            y = pl.store(tile, [0, peer], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(
        self,
        x: pl.Tensor[[1, SIZE], pl.FP32],
        y: pl.Out[pl.Tensor[[1, M], pl.FP32]],
        data: pld.DistributedTensor[[1, SIZE], pl.FP32],
        sig: pl.InOut[pld.DistributedTensor[[NR, 1], pl.INT32]],
        my_rank: pl.Scalar[pl.INT32],
    ):
        return self.gather(x, y, data, sig, my_rank)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(
        self,
        xs: pl.Tensor[[NR, 1, SIZE], pl.FP32],
        ys: pl.Out[pl.Tensor[[NR, 1, NR * SIZE], pl.FP32]],
    ):
        data_buf = pld.alloc_window_buffer(SIZE * pl.FP32.get_byte())
        sig_buf = pld.alloc_window_buffer(pld.world_size() * pl.INT32.get_byte())
        for r in pl.range(pld.world_size()):
            data = pld.window(data_buf, [1, SIZE], dtype=pl.FP32)
            sig = pld.window(sig_buf, [pld.world_size(), 1], dtype=pl.INT32)
            self.chip(xs[r], ys[r], data, sig, r, device=r)
        return ys




def pairs(n=SIZE):
    """Devices 0, 1 and 1, 2 share windows: two domains, and device 1 is in both with another rank."""

    @pl.program
    class Pairs:
        @pl.function(type=pl.FunctionType.InCore)
        def swap(
            self,
            x: pl.Tensor[[1, n], pl.FP32],
            y: pl.Out[pl.Tensor[[1, n], pl.FP32]],
            data: pld.DistributedTensor[[1, n], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[2, 1], pl.INT32]],
        ):
            me = pld.rank(pld.get_comm_ctx(data))
            pld.tensor.put(data, 1 - me, x)
            pld.tensor.barrier(sig)
            return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)

        @pl.function(type=pl.FunctionType.Orchestration)
        def chip(
            self,
            x: pl.Tensor[[1, n], pl.FP32],
            y: pl.Out[pl.Tensor[[1, n], pl.FP32]],
            data: pld.DistributedTensor[[1, n], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[2, 1], pl.INT32]],
        ):
            return self.swap(x, y, data, sig)

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(
            self,
            xs: pl.Tensor[[4, 1, n], pl.FP32],
            left: pl.Out[pl.Tensor[[4, 1, n], pl.FP32]],
            right: pl.Out[pl.Tensor[[4, 1, n], pl.FP32]],
        ):
            a = pld.alloc_window_buffer(n * pl.FP32.get_byte())
            a_sig = pld.alloc_window_buffer(2 * pl.INT32.get_byte())
            b = pld.alloc_window_buffer(n * pl.FP32.get_byte())
            b_sig = pld.alloc_window_buffer(2 * pl.INT32.get_byte())
            for r in pl.range(2):
                w = pld.window(a, [1, n], dtype=pl.FP32)
                s = pld.window(a_sig, [2, 1], dtype=pl.INT32)
                self.chip(xs[r], left[r], w, s, device=r)
            for r in pl.range(1, 3):
                w2 = pld.window(b, [1, n], dtype=pl.FP32)
                s2 = pld.window(b_sig, [2, 1], dtype=pl.INT32)
                self.chip(xs[r], right[r], w2, s2, device=r)
            return left, right

    return Pairs


def two_roles(n=SIZE):
    """Device 0 sends and device 1 receives: other functions on each."""

    @pl.program
    class TwoRoles:
        @pl.function(type=pl.FunctionType.InCore)
        def send(
            self,
            x: pl.Tensor[[1, n], pl.FP32],
            data: pld.DistributedTensor[[1, n], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
        ):
            pld.tensor.put(data, 1, x)
            pld.system.notify(sig, 1, [0, 0], 1, op=pld.NotifyOp.Set)

        @pl.function(type=pl.FunctionType.InCore)
        def receive(
            self,
            y: pl.Out[pl.Tensor[[1, n], pl.FP32]],
            data: pld.DistributedTensor[[1, n], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
        ):
            pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)
            pld.tensor.get(y, 1, data)
            return y

        @pl.function(type=pl.FunctionType.Orchestration)
        def sender(
            self,
            x: pl.Tensor[[1, n], pl.FP32],
            data: pld.DistributedTensor[[1, n], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
        ):
            self.send(x, data, sig)

        @pl.function(type=pl.FunctionType.Orchestration)
        def receiver(
            self,
            y: pl.Out[pl.Tensor[[1, n], pl.FP32]],
            data: pld.DistributedTensor[[1, n], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
        ):
            return self.receive(y, data, sig)

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, x: pl.Tensor[[1, n], pl.FP32], y: pl.Out[pl.Tensor[[1, n], pl.FP32]]):
            data_buf = pld.alloc_window_buffer(n * pl.FP32.get_byte())
            sig_buf = pld.alloc_window_buffer(pl.INT32.get_byte())
            data = pld.window(data_buf, [1, n], dtype=pl.FP32)
            sig = pld.window(sig_buf, [1, 1], dtype=pl.INT32)
            self.receiver(y, data, sig, device=1)
            self.sender(x, data, sig, device=0)
            return y

    return TwoRoles


def scalars_given(nr, n=SIZE):
    """The last rank sends to everybody, piece by piece: rank, root, tag and the length of a piece come from the host."""

    @pl.program
    class ScalarsGiven:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            self,
            x: pl.Tensor[[1, n], pl.INT32],
            y: pl.Out[pl.Tensor[[1, n + 1], pl.INT32]],
            data: pld.DistributedTensor[[1, n], pl.INT32],
            sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
            me: pl.Scalar[pl.INT32],
            root: pl.Scalar[pl.INT32],
            tag: pl.Scalar[pl.INT32],
            chunk: pl.Scalar[pl.INDEX],
        ):
            if me == root:
                for at in pl.range(0, n, chunk):
                    length = pl.min(chunk, n - at)
                    piece = pl.load(x, [0, at], [1, 8], valid_shape=[1, length])
                    for peer in pl.range(nr):
                        pld.tile.remote_store(piece, data, peer, [0, at])
                for peer in pl.range(nr):
                    pld.system.notify(sig, peer, [0, 0], tag, op=pld.NotifyOp.Set)
            pld.system.wait(sig, [0, 0], tag, cmp=pld.WaitCmp.Ge)
            y = pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
            pl.write(y, [0, n], pl.read(sig, [0, 0]))
            return y

        @pl.function(type=pl.FunctionType.Orchestration)
        def chip(
            self,
            x: pl.Tensor[[1, n], pl.INT32],
            y: pl.Out[pl.Tensor[[1, n + 1], pl.INT32]],
            data: pld.DistributedTensor[[1, n], pl.INT32],
            sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]],
            me: pl.Scalar[pl.INT32],
            root: pl.Scalar[pl.INT32],
            tag: pl.Scalar[pl.INT32],
            chunk: pl.Scalar[pl.INDEX],
        ):
            return self.kernel(x, y, data, sig, me, root, tag, chunk)

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, xs: pl.Tensor[[nr, 1, n], pl.INT32], ys: pl.Out[pl.Tensor[[nr, 1, n + 1], pl.INT32]]):
            data_buf = pld.alloc_window_buffer(n * pl.INT32.get_byte())
            sig_buf = pld.alloc_window_buffer(pl.INT32.get_byte())
            for r in pl.range(pld.world_size()):
                data = pld.window(data_buf, [1, n], dtype=pl.INT32)
                sig = pld.window(sig_buf, [1, 1], dtype=pl.INT32)
                self.chip(xs[r], ys[r], data, sig, r, nr - 1, 7, 5, device=r)
            return ys

    return ScalarsGiven


def total_and_own(nr, op: pld.ReduceOp, dtype, n=SIZE):
    """Two results; the reduction and the element type are captured."""

    @pl.program
    class TotalAndOwn:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            self,
            x: pl.Tensor[[1, n], dtype],
            total: pl.Out[pl.Tensor[[1, n], dtype]],
            own: pl.Out[pl.Tensor[[1, n], dtype]],
            data: pld.DistributedTensor[[1, n], dtype],
            sig: pl.InOut[pld.DistributedTensor[[nr, 1], pl.INT32]],
        ) -> tuple[pl.Tensor[[1, n], dtype], pl.Tensor[[1, n], dtype]]:
            mine = pl.load(x, [0, 0], [1, n])
            data = pl.store(mine, [0, 0], data)
            data = pld.tensor.allreduce(data, sig, op=op)
            total = pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], total)
            own = pl.store(pl.mul(mine, 2.0), [0, 0], own)
            return total, own

        @pl.function(type=pl.FunctionType.Orchestration)
        def chip(
            self,
            x: pl.Tensor[[1, n], dtype],
            total: pl.Out[pl.Tensor[[1, n], dtype]],
            own: pl.Out[pl.Tensor[[1, n], dtype]],
            data: pld.DistributedTensor[[1, n], dtype],
            sig: pl.InOut[pld.DistributedTensor[[nr, 1], pl.INT32]],
        ) -> tuple[pl.Tensor[[1, n], dtype], pl.Tensor[[1, n], dtype]]:
            total, own = self.kernel(x, total, own, data, sig)
            return total, own

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(
            self,
            xs: pl.Tensor[[nr, 1, n], dtype],
            totals: pl.Out[pl.Tensor[[nr, 1, n], dtype]],
            owns: pl.Out[pl.Tensor[[nr, 1, n], dtype]],
        ) -> tuple[pl.Tensor[[nr, 1, n], dtype], pl.Tensor[[nr, 1, n], dtype]]:
            nbytes = n * dtype.get_byte()
            data_buf = pld.alloc_window_buffer(nbytes)
            sig_buf = pld.alloc_window_buffer(nr * pl.INT32.get_byte())
            for r in pl.range(pld.world_size()):
                data = pld.window(data_buf, [1, n], dtype=dtype)
                sig = pld.window(sig_buf, [nr, 1], dtype=pl.INT32)
                self.chip(xs[r], totals[r], owns[r], data, sig, device=r)
            return totals, owns

    return TotalAndOwn


def pairs_and_all(n=SIZE):
    """Windows of each pair and of all four in one dispatch: sums over a pair, then over both."""

    @pl.program
    class PairsAndAll:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            self,
            x: pl.Tensor[[1, n], pl.FP32],
            y: pl.Out[pl.Tensor[[1, n], pl.FP32]],
            pair: pld.DistributedTensor[[1, n], pl.FP32],
            pair_sig: pld.DistributedTensor[[2, 1], pl.INT32],
            world: pld.DistributedTensor[[1, n], pl.FP32],
            world_sig: pld.DistributedTensor[[4, 1], pl.INT32],
        ):
            ctx = pld.get_comm_ctx(pair)
            mine = pld.rank(ctx)
            other = pld.nranks(ctx) - 1 - mine
            pld.tensor.put(pair, other, x)
            pld.system.notify(pair_sig, other, [mine, 0], 1, op=pld.NotifyOp.Set)
            pld.system.wait(pair_sig, [other, 0], 1, cmp=pld.WaitCmp.Ge)
            both = pl.add(pl.load(x, [0, 0], [1, n]), pl.load(pair, [0, 0], [1, n]))
            me = pld.rank(pld.get_comm_ctx(world))
            across = (me + 2) % pld.nranks(pld.get_comm_ctx(world))
            pld.tile.remote_store(both, world, across, [0, 0])
            pld.system.notify(world_sig, across, [me, 0], 1, op=pld.NotifyOp.Set)
            pld.system.wait(world_sig, [across, 0], 1, cmp=pld.WaitCmp.Ge)
            y = pl.store(pl.add(both, pl.load(world, [0, 0], [1, n])), [0, 0], y)
            return y

        @pl.function(type=pl.FunctionType.Orchestration)
        def chip(
            self,
            x: pl.Tensor[[1, n], pl.FP32],
            y: pl.Out[pl.Tensor[[1, n], pl.FP32]],
            pair: pld.DistributedTensor[[1, n], pl.FP32],
            pair_sig: pld.DistributedTensor[[2, 1], pl.INT32],
            world: pld.DistributedTensor[[1, n], pl.FP32],
            world_sig: pld.DistributedTensor[[4, 1], pl.INT32],
        ):
            return self.kernel(x, y, pair, pair_sig, world, world_sig)

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, xs: pl.Tensor[[4, 1, n], pl.FP32], ys: pl.Out[pl.Tensor[[4, 1, n], pl.FP32]]):
            a_buf = pld.alloc_window_buffer([1, n], dtype=pl.FP32)
            a_sig = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
            b_buf = pld.alloc_window_buffer([1, n], dtype=pl.FP32)
            b_sig = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
            all_buf = pld.alloc_window_buffer([1, n], dtype=pl.FP32)
            all_sig = pld.alloc_window_buffer([4, 1], dtype=pl.INT32)
            a = pld.window(a_buf, [1, n], dtype=pl.FP32)
            sa = pld.window(a_sig, [2, 1], dtype=pl.INT32)
            b = pld.window(b_buf, [1, n], dtype=pl.FP32)
            sb = pld.window(b_sig, [2, 1], dtype=pl.INT32)
            w = pld.window(all_buf, [1, n], dtype=pl.FP32)
            sw = pld.window(all_sig, [4, 1], dtype=pl.INT32)
            for r in pl.range(2):
                self.chip(xs[r], ys[r], a, sa, w, sw, device=r)
            for r in pl.range(2, 4):
                self.chip(xs[r], ys[r], b, sb, w, sw, device=r)
            return ys

    return PairsAndAll
