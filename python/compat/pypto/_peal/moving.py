# SPDX-License-Identifier: Apache-2.0
"""Ops that move data, as nodes of Peal: loads, stores, puts and gets, of boxes with and without gaps."""

from math import prod

from peal._peal import ir

from . import nodes
from .arithmetic import CompileError, refuse
from .enums import AtomicType
from .regions import Runs, packed, region_of
from .values import Memory, Tile

TILE_OPS = {"add": "tile.add", "sub": "tile.add", "mul": "tile.mul", "maximum": "tile.max", "minimum": "tile.min"}
SCALAR_OPS = {"add": "tile.adds", "sub": "tile.adds", "mul": "tile.muls"}


class Moving:
    def memory(self, expr):
        value = self.value(expr)
        if not isinstance(value, Memory):
            refuse("this op needs memory: a tensor or a window", expr.span)
        return value

    def tile(self, expr):
        """A tile, or all of a tensor as one."""
        value = self.value(expr)
        if isinstance(value, Memory):
            zeros = [0] * len(value.shape)
            return self.loaded(value, zeros, value.shape, value.shape, None, expr.span)
        if not isinstance(value, Tile):
            refuse("this op needs a tile", expr.span)
        return value

    def numbers(self, expr, what):
        return [self.whole(e, what) for e in expr.elements]

    # ---- loads and stores

    def load(self, expr, at):
        memory = self.memory(expr.args[0])
        peer = None
        if expr.op.name == "pld.tile.remote_load":
            peer = self.peer(memory, expr.args[1])
        offsets, shape, valid = (self.numbers(e, what) for e, what in zip(expr.args[-3:], ("an offset", "a size", "a size")))
        return self.loaded(memory, offsets, valid, shape, peer, expr.span)

    def loaded(self, memory, offsets, valid, shape, peer, span):
        """A tile of what is there. Rows with gaps between them are put together in memory of the rank's own first; `shape` says
        how much room they may need."""
        at, source = span.at(), self.source(memory, span)
        runs = Runs(self, valid, [region_of(self, memory, offsets, valid, span), packed(self, valid)])
        if runs.is_one():
            [place] = [self.expression(r.offset) for r in runs.regions[:1]]
            return self.piece(source, peer, place, self.expression(runs.count), memory.dtype, valid, at)
        stage = self.staging(memory.dtype, shape, span)

        def gather(count, places):
            there, here = map(self.expression, places)
            count = self.expression(count)
            if peer is None:
                call = ir.call("tensor.copy", [stage, here, source, there, count], [], at)
            else:
                call = ir.call("pld.tensor.get", [stage, here, source, peer, there, count], [], at)
            self.emit(ir.eval(call, at))

        runs.each(gather, at)
        total = self.expression(self.product(valid))
        return self.piece(stage, None, ir.integer(0), total, memory.dtype, valid, at)

    def piece(self, source, peer, place, count, dtype, valid, at):
        if peer is None:
            call = ir.call("tile.load", [source, place, count], [], at)
        else:
            call = ir.call("pld.tile.remote_load", [source, peer, place, count], [], at)
        return Tile(self.bind("tile" if peer is None else "recv", call, at), dtype, list(valid))

    def product(self, sizes):
        total = 1
        for size in sizes:
            total = self.mul(total, size)
        return total

    def stored(self, tile, memory, offsets, span, peer=None, adds=False):
        """A tile into a box of memory, the own or a peer's; row by row where there are gaps."""
        at = span.at()
        rank = len(memory.shape)
        extent = [1] * (rank - len(tile.valid)) + tile.valid[-rank:]
        runs = Runs(self, extent, [region_of(self, memory, offsets, extent, span), packed(self, extent)])
        if peer is None and memory.param.name in self.mirrored:
            self.ring_own(tile, memory, runs, span)
            return
        target = self.target(memory, span)

        def put_down(count, places):
            there, here = map(self.expression, places)
            part = tile.var
            if not runs.is_one():
                part = self.bind("row", ir.call("tile.slice", [tile.var, here, self.expression(count)], [], at), at)
            if peer is None:
                call = ir.call("tile.store", [part, target, there], [], at)
            else:
                op = "pld.tile.remote_add" if adds else "pld.tile.remote_store"
                call = ir.call(op, [part, target, peer, there], [], at)
            self.emit(ir.eval(call, at))

        runs.each(put_down, at)

    def store(self, expr, at):
        tile, memory = self.tile(expr.args[0]), self.memory(expr.args[2])
        self.stored(tile, memory, self.numbers(expr.args[1], "an offset"), expr.span, *self.atomic_place(expr, memory))
        return memory

    def assemble(self, expr, at):
        memory, tile = self.memory(expr.args[0]), self.tile(expr.args[1])
        self.stored(tile, memory, self.numbers(expr.args[2], "an offset"), expr.span, *self.atomic_place(expr, memory))
        return memory

    def atomic_place(self, expr, memory):
        """An atomic addition to the own memory is one to the own slice of a window."""
        if not is_atomic(expr):
            return None, False
        if memory.param.kind != "window":
            refuse("atomic=Add adds to a window: no other rank sees a tensor", expr.span)
        return ir.rank(expr.span.at()), True

    def remote_store(self, expr, at):
        tile, window = self.tile(expr.args[0]), self.memory(expr.args[1])
        peer = self.peer(window, expr.args[2])
        self.stored(tile, window, self.numbers(expr.args[3], "an offset"), expr.span, peer, is_atomic(expr))

    def read(self, expr, at):
        memory, offsets = self.memory(expr.args[0]), self.numbers(expr.args[1], "an offset")
        ones = [1] * len(offsets)
        tile = self.loaded(memory, offsets, ones, ones, None, expr.span)
        return Tile(tile.var, tile.dtype, [1])

    def write(self, expr, at):
        memory, offsets = self.memory(expr.args[0]), self.numbers(expr.args[1], "an offset")
        value = self.value(expr.args[2])
        if not isinstance(value, Tile):
            value = self.filled(value, memory.dtype, [1], at)
        if value.dtype != memory.dtype:
            raise CompileError(f"pl.write: a value of {value.dtype} into memory of {memory.dtype}", expr.span)
        self.stored(value, memory, offsets, expr.span)

    # ---- tiles

    def elementwise(self, expr, kind):
        at = expr.span.at()
        a, b = self.tile(expr.args[0]), expr.args[1]
        if isinstance(b.type, nodes.ScalarType):
            return self.with_scalar(a, b, kind, expr)
        other = self.tile(b).var
        if kind == "sub":  # a - b is a + (-1) * b, to the last bit
            other = self.bind("negated", ir.call("tile.muls", [other, ir.integer(-1)], [], at), at)
        call = ir.call(TILE_OPS[kind], [a.var, other], [], at)
        return Tile(self.bind(kind, call, at), a.dtype, a.valid)

    def with_scalar(self, a, b, kind, expr):
        at = expr.span.at()
        number = self.value(b)
        number = number if isinstance(number, float) else self.whole(b, "the scalar")
        if kind not in SCALAR_OPS:
            other = self.filled(number, a.dtype, a.valid, at)
            call = ir.call(TILE_OPS[kind], [a.var, other.var], [], at)
        else:
            number = self.negated(number) if kind == "sub" else number
            call = ir.call(SCALAR_OPS[kind], [a.var, self.number_node(number)], [], at)
        return Tile(self.bind(kind, call, at), a.dtype, a.valid)

    def negated(self, number):
        return -number if isinstance(number, (int, float)) else self.sub(0, number)

    def number_node(self, number):
        return self.expression(number)

    def full(self, expr, at):
        shape, value = self.numbers(expr.args[0], "a size"), expr.args[1]
        return self.filled(self.value(value), expr.type.dtype, shape, at)

    def filled(self, number, dtype, shape, at):
        count = self.expression(self.product(shape))
        call = ir.call("tile.full", [self.number_node(number), count], [("element", dtype.peal)], at)
        return Tile(self.bind("full", call, at), dtype, list(shape), number)

    def zero_like(self, value, span):
        return self.filled(0, value.dtype, value.valid, span.at()) if isinstance(value, Tile) else 0

    def slice(self, expr, at):
        """A part of memory, where it is; dimensions that are dropped are gone."""
        memory = self.memory(expr.args[0])
        offsets, shape = self.numbers(expr.args[1], "an index"), self.numbers(expr.args[2], "a size")
        if not all(isinstance(size, int) for size in shape):
            refuse("the size of a part must be known", expr.span)
        region = region_of(self, memory, offsets, shape, expr.span)
        kept = [i for i in range(len(shape)) if i not in expr.kwargs["drop_dims"]]
        strides = [memory.strides[i] for i in kept]
        return Memory(memory.param, region.offset, [shape[i] for i in kept], memory.dtype, strides)

    def reshape(self, expr, at):
        memory, shape = self.memory(expr.args[0]), self.numbers(expr.args[1], "a size")
        if not all(isinstance(size, int) for size in shape) or prod(shape) != prod(memory.shape):
            raise CompileError(f"memory of shape {memory.shape} does not become one of {shape}", expr.span)
        if not memory.is_dense():
            refuse("a part with gaps between its rows cannot get another shape", expr.span)
        return Memory(memory.param, memory.offset, shape, memory.dtype)

    def tile_slice(self, expr, at):
        shape, offsets = self.numbers(expr.args[1], "a size"), self.numbers(expr.args[2], "an offset")
        return self.tile_part(self.tile(expr.args[0]), shape, offsets, expr.span)

    def tile_read(self, expr, at):
        """One element: a tile of it, as what is read from memory is."""
        tile, offsets = self.tile(expr.args[0]), self.numbers(expr.args[1], "an offset")
        one = self.tile_part(tile, [1] * len(offsets), offsets, expr.span)
        return Tile(one.var, one.dtype, [1])

    def tile_part(self, tile, shape, offsets, span):
        at, whole = span.at(), packed(self, tile.valid)
        place = 0
        for offset, step in zip(offsets, whole.strides):
            place = self.add(place, self.mul(offset, step))
        runs = Runs(self, shape, [whole])
        if not runs.is_one():
            refuse("a part of a tile with gaps between its rows is not supported", span)
        operands = [tile.var, self.expression(place), self.expression(runs.count)]
        return Tile(self.bind("part", ir.call("tile.slice", operands, [], at), at), tile.dtype, shape)

    def create(self, expr, at):
        return self.filled(0, expr.type.dtype, self.numbers(expr.args[0], "a size"), at)

    def create_tensor(self, expr, at):
        shape = self.numbers(expr.args[0], "a size")
        memory = self.created(shape, expr.type.dtype, expr.span)
        if "init_value" in expr.kwargs:
            tile = self.filled(expr.kwargs["init_value"], memory.dtype, shape, at)
            self.stored(tile, memory, [0] * len(shape), expr.span)
        return memory

    # ---- between ranks

    def transfer(self, expr, at):
        """put and get: rows, where a region is not one run of elements."""
        is_put = expr.op.name.endswith(".put")
        dst, src = self.memory(expr.args[0]), self.memory(expr.args[2])
        peer = self.peer(dst if is_put else src, expr.args[1])
        shape = self.numbers(expr.args[5], "a size")
        there = region_of(self, dst, self.numbers(expr.args[3], "an offset"), shape, expr.span)
        here = region_of(self, src, self.numbers(expr.args[4], "an offset"), shape, expr.span)
        if (dst if is_put else src).param.kind != "window":
            refuse("the peer's side must be a window", expr.span)
        into, source = self.target(dst, expr.span), self.source(src, expr.span)

        def one(count, places):
            to, where, count = (self.expression(e) for e in (*places, count))
            if is_put:
                op = "pld.tensor.put_add" if is_atomic(expr) else "pld.tensor.put"
                call = ir.call(op, [into, peer, to, source, where, count], [], at)
            else:
                call = ir.call("pld.tensor.get", [into, to, source, peer, where, count], [], at)
            self.emit(ir.eval(call, at))

        Runs(self, shape, [there, here]).each(one, at)


def is_atomic(expr):
    return expr.kwargs.get("atomic") == AtomicType.Add
