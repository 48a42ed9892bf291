# SPDX-License-Identifier: Apache-2.0
"""Expressions and ops of a body, as nodes of Peal."""

from contextlib import contextmanager
from math import prod

from peal._peal import ir

from . import dtypes, nodes
from .arithmetic import PYTHON, CompileError, refuse
from .enums import AtomicType, NotifyOp, ReduceOp, WaitCmp
from .regions import Run, run_of
from .values import Context, Memory, Several, Tile, is_number

RESERVED = set(
    "kernel let for yield if else notify wait put get advance require rank nranks lane nlanes peers and or not xor generation "
    "epoch log2 min max sum inf nan in out inout window index carry by f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64".split()
)
TILE_OPS = {"add": "tile.add", "mul": "tile.mul", "maximum": "tile.max", "minimum": "tile.min"}
SCALAR_OPS = {"add": "tile.adds", "mul": "tile.muls"}
REDUCTIONS = {ReduceOp.Sum: "sum", ReduceOp.Max: "max", ReduceOp.Min: "min", ReduceOp.Prod: "prod"}


class Emitter:
    def __init__(self, nranks):
        self.nranks = nranks
        self.values, self.symbols = {}, {}
        self.returned = self.yielded = None
        self.loops = 0
        self.taken = set(RESERVED)
        self.out = []

    # ---- names and places

    def fresh(self, hint):
        hint = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in hint) or "value"
        name, number = hint, 0
        while name in self.taken:
            number += 1
            name = f"{hint}_{number}"
        self.taken.add(name)
        return name

    def names_state(self):
        return set(self.taken)

    def restore_names(self, state):
        self.taken = state

    @contextmanager
    def into(self, body):
        outer, self.out = self.out, body
        try:
            yield body
        finally:
            self.out = outer

    def emit(self, statement):
        self.out.append(statement)

    def bind(self, hint, value, at):
        var = ir.variable(self.fresh(hint), ir.type_of(value), at)
        self.emit(ir.let(var, value, at))
        return var

    def named(self, name, value, span):
        """A value under the user's name. What is a number in itself needs none."""
        if isinstance(value, ir.Expression):
            return self.bind(name, value, span.at())
        return value

    # ---- integers

    def expression(self, value):
        if isinstance(value, int):
            return ir.integer(int(value))
        return value.var if isinstance(value, Tile) else value

    def binary(self, symbol, a, b, at=(0, 0, 0)):
        if isinstance(a, int) and isinstance(b, int):
            return PYTHON[symbol](a, b)
        if symbol in ("+", "-") and b == 0 and isinstance(b, int):
            return a
        if symbol == "+" and isinstance(a, int) and a == 0:
            return b
        if symbol == "*" and 1 in (x for x in (a, b) if isinstance(x, int)):
            return b if isinstance(a, int) else a
        if symbol == "*" and 0 in (x for x in (a, b) if isinstance(x, int)):
            return 0
        return ir.binary(nodes.BINARY[symbol].peal, self.expression(a), self.expression(b), at)

    def add(self, a, b):
        return self.binary("+", a, b)

    def sub(self, a, b):
        return self.binary("-", a, b)

    def mul(self, a, b):
        return self.binary("*", a, b)

    def floor_div(self, a, b):
        return self.binary("//", a, b)

    def whole(self, expr, what):
        """A number that steers: it must be known when the plan is made."""
        value = self.value(expr)
        if isinstance(value, Tile):
            self.refuse_data(value, expr.span, what)
        if not is_number(value):
            refuse(f"{what} must be a number", expr.span)
        return value

    integer = property(lambda self: lambda expr: self.whole(expr, "this"))

    def refuse_data(self, value, span, what="this"):
        raise CompileError(
            f"{what} depends on a value that the kernel reads from memory. Peal makes the plan of a kernel before any data is "
            "known: what is read may be stored, and cannot say what is done or where",
            span,
        )

    # ---- expressions

    def value(self, expr):
        if isinstance(expr, nodes.Const):
            return expr.value
        if isinstance(expr, nodes.DynVar):
            if expr.name_hint not in self.symbols:
                refuse(f"the value of symbol '{expr}' is not known here: no argument has it in its shape", expr.span)
            return self.symbols[expr.name_hint]
        if isinstance(expr, nodes.Var):
            if expr.name_hint not in self.values:
                refuse(f"'{expr}' has no value here", expr.span)
            return self.values[expr.name_hint]
        if isinstance(expr, nodes.BinaryExpr):
            return self.binary_expr(expr)
        if isinstance(expr, nodes.Neg):
            return self.sub(0, self.whole(expr.operand, "the operand"))
        if isinstance(expr, nodes.Not):
            value = self.value(expr.operand)
            return (not value) if isinstance(value, bool) else ir.unary("not", value, expr.span.at())
        if isinstance(expr, nodes.Cast):
            return self.value(expr.operand)
        if isinstance(expr, nodes.TupleGetItemExpr):
            return self.value(expr.tuple).items[expr.index]
        if isinstance(expr, nodes.Call):
            return self.call(expr)
        refuse(f"a {type(expr).__name__} is not supported here", expr.span)

    def binary_expr(self, expr):
        left, right = self.value(expr.left), self.value(expr.right)
        for side in (left, right):
            if isinstance(side, Tile):
                self.refuse_data(side, expr.span, f"operator '{expr.symbol}'")
        if expr.symbol in ("//", "%") and isinstance(right, int) and right == 0:
            refuse("division by zero", expr.span)
        return self.binary(expr.symbol, left, right, expr.span.at())

    def call(self, expr):
        if isinstance(expr.op, nodes.GlobalVar):
            returned = self.call_function(self.program[expr.op.name], [self.value(a) for a in expr.args], expr.span)
            return returned[0] if len(returned) == 1 else Several(returned)
        name = expr.op.name
        if name in ELEMENTWISE:
            return self.elementwise(expr, name.split(".")[1])
        emit = OPS.get(name)
        if emit is None:
            refuse(f"{nodes.spelled(name)} is not supported in a kernel", expr.span)
        return emit(self, expr, expr.span.at())

    # ---- memory and tiles

    def memory(self, expr):
        value = self.value(expr)
        if not isinstance(value, Memory):
            refuse("this op needs memory: a tensor or a window", expr.span)
        return value

    def tile(self, expr):
        """A tile, or all of a tensor as one."""
        value = self.value(expr)
        if isinstance(value, Memory):
            run = run_of(self, value, [0] * len(value.shape), value.shape, expr.span)
            return self.loaded(value, run, value.shape, None, expr.span.at())
        if not isinstance(value, Tile):
            refuse("this op needs a tile", expr.span)
        return value

    def numbers(self, expr, what):
        return [self.whole(e, what) for e in expr.elements]

    def loaded(self, memory, run, valid, peer, at):
        source = self.source(memory, run.span)
        op, head = "tile.load", [source]
        if peer is not None:
            op, head = "pld.tile.remote_load", [source, self.expression(peer)]
        call = ir.call(op, [*head, *run.operands(self)], [], at)
        return Tile(self.bind("tile" if peer is None else "recv", call, at), memory.dtype, list(valid))

    def load(self, expr, at):
        memory = self.memory(expr.args[0])
        peer = None
        if expr.op.name == "pld.tile.remote_load":
            peer = self.whole(expr.args[1], "the peer")
        offsets, _, valid = expr.args[-3:]
        offsets, valid = self.numbers(offsets, "an offset"), self.numbers(valid, "a size")
        return self.loaded(memory, run_of(self, memory, offsets, valid, expr.span), valid, peer, at)

    def region(self, memory, tile, offsets, span):
        extent = [1] * (len(memory.shape) - len(tile.valid)) + tile.valid[-len(memory.shape) :]
        return run_of(self, memory, offsets, extent, span)

    def store(self, expr, at):
        tile, memory = self.tile(expr.args[0]), self.memory(expr.args[2])
        run = self.region(memory, tile, self.numbers(expr.args[1], "an offset"), expr.span)
        self.emit(ir.eval(ir.call("tile.store", [tile.var, self.target(memory, expr.span), *run.place(self)], [], at), at))
        return memory

    def remote_store(self, expr, at):
        tile, window = self.tile(expr.args[0]), self.memory(expr.args[1])
        peer = self.expression(self.whole(expr.args[2], "the peer"))
        run = self.region(window, tile, self.numbers(expr.args[3], "an offset"), expr.span)
        op = "pld.tile.remote_add" if is_atomic(expr) else "pld.tile.remote_store"
        self.emit(ir.eval(ir.call(op, [tile.var, self.target(window, expr.span), peer, *run.place(self)], [], at), at))

    def elementwise(self, expr, kind):
        a = self.tile(expr.args[0])
        b = expr.args[1]
        if isinstance(b.type, nodes.ScalarType):
            if kind not in SCALAR_OPS:
                refuse(f"{nodes.spelled(expr.op.name)} with a scalar is not supported", expr.span)
            number = b.value if isinstance(b, nodes.ConstFloat) else self.whole(b, "the scalar")
            made = ir.floating(number) if isinstance(number, float) else self.expression(number)
            call = ir.call(SCALAR_OPS[kind], [a.var, made], [], expr.span.at())
        else:
            call = ir.call(TILE_OPS[kind], [a.var, self.tile(b).var], [], expr.span.at())
        return Tile(self.bind(kind, call, expr.span.at()), a.dtype, a.valid)

    def full(self, expr, at):
        shape, value = self.numbers(expr.args[0], "a size"), expr.args[1]
        return self.filled(value.value, expr.type.dtype, shape, at)

    def filled(self, number, dtype, shape, at):
        count = 1
        for size in shape:
            count = self.mul(count, size)
        made = ir.floating(number) if isinstance(number, float) else self.expression(number)
        call = ir.call("tile.full", [made, self.expression(count)], [("element", dtype.peal)], at)
        return Tile(self.bind("full", call, at), dtype, list(shape))

    def zero_like(self, value, span):
        return self.filled(0, value.dtype, value.valid, span.at()) if isinstance(value, Tile) else 0

    def read(self, expr, at):
        memory = self.memory(expr.args[0])
        offsets = self.numbers(expr.args[1], "an offset")
        tile = self.loaded(memory, run_of(self, memory, offsets, [1] * len(offsets), expr.span), [1], None, at)
        tile.is_scalar = True
        return tile

    def write(self, expr, at):
        memory = self.memory(expr.args[0])
        offsets = self.numbers(expr.args[1], "an offset")
        value = self.value(expr.args[2])
        if not isinstance(value, Tile):
            value = self.filled(value, memory.dtype, [1], at)
        if value.dtype != memory.dtype:
            raise CompileError(f"pl.write: a value of {value.dtype} into memory of {memory.dtype}", expr.span)
        run = run_of(self, memory, offsets, [1] * len(offsets), expr.span)
        self.emit(ir.eval(ir.call("tile.store", [value.var, self.target(memory, expr.span), *run.place(self)], [], at), at))

    def slice(self, expr, at):
        memory = self.memory(expr.args[0])
        indices = self.numbers(expr.args[1], "an index")
        if not all(isinstance(i, int) for i in indices):
            refuse("an index of a tensor that depends on the rank is not supported in a kernel", expr.span)
        rest = memory.shape[len(indices) :]
        size = 1
        for d in rest:
            size *= d
        offset = 0
        for index, extent in zip(indices, memory.shape):
            if not 0 <= index < extent:
                raise CompileError(f"index {index} leaves a dimension of {extent}", expr.span)
            offset = offset * extent + index
        return Memory(memory.param, memory.offset + offset * size, rest, memory.dtype)

    # ---- between ranks

    def transfer(self, expr, at):
        """put and get: rows, where a region is not one run of elements."""
        is_put = expr.op.name == "pld.tensor.put"
        dst, src = self.memory(expr.args[0]), self.memory(expr.args[2])
        peer = self.expression(self.whole(expr.args[1], "the peer"))
        shape = self.numbers(expr.args[5], "a size")
        there = run_of(self, dst, self.numbers(expr.args[3], "an offset"), shape, expr.span)
        here = run_of(self, src, self.numbers(expr.args[4], "an offset"), shape, expr.span)
        there, here = Run.alike(self, there, here)
        whose = (dst, src) if is_put else (src, dst)
        for side in whose[:1]:
            if side.param.kind != "window":
                refuse("the peer's side must be a window", expr.span)

        into, source_var = self.target(dst, expr.span), self.source(src, expr.span)

        def one(row):
            to = self.expression(self.add(there.offset, self.mul(row, there.stride)))
            source = self.expression(self.add(here.offset, self.mul(row, here.stride)))
            count = self.expression(there.count)
            if is_put:
                op = "pld.tensor.put_add" if is_atomic(expr) else "pld.tensor.put"
                return ir.call(op, [into, peer, to, source_var, source, count], [], at)
            return ir.call("pld.tensor.get", [into, to, source_var, peer, source, count], [], at)

        if isinstance(there.rows, int) and there.rows == 1:
            self.emit(ir.eval(one(0), at))
            return
        row = ir.variable(self.fresh("row"), ir.index_type(), at)
        self.emit(
            ir.for_loop(row, ir.integer(0), self.expression(there.rows), [], [ir.eval(one(row), at)], [], at)
        )

    def cell(self, memory, expr, span):
        offsets = self.numbers(expr, "an offset")
        return self.expression(run_of(self, memory, offsets, [1] * len(offsets), span).offset)

    def notify(self, expr, at):
        target = self.memory(expr.args[0])
        peer = self.expression(self.whole(expr.args[1], "the peer"))
        value = self.expression(self.whole(expr.args[3], "the value of a notify"))
        word = "set" if expr.kwargs["op"] == NotifyOp.Set else "add"
        cell = self.cell(target, expr.args[2], expr.span)
        self.mirror(target, peer, cell, value, word, at)
        operands = [self.cells(target, expr.span), peer, cell, value]
        self.emit(ir.eval(ir.call("pld.system.notify", operands, [("op", word)], at), at))

    def wait(self, expr, at):
        signal = self.memory(expr.args[0])
        value = self.expression(self.whole(expr.args[2], "the value of a wait"))
        word = "eq" if expr.kwargs["cmp"] == WaitCmp.Eq else "ge"
        operands = [self.cells(signal, expr.span), self.cell(signal, expr.args[1], expr.span), value]
        self.emit(ir.eval(ir.call("pld.system.wait", operands, [("cmp", word)], at), at))

    def context(self, expr, at):
        self.memory(expr.args[0])
        return Context()

    # ---- cells that are also read as data
    #
    # What is read comes from a window beside the cells, in which every notify leaves the same value before it rings. So a
    # read that notifies are ordered with finds what the cell holds, and one that they are not ordered with is a race.

    def source(self, memory, span):
        """The variable of memory that is read as data."""
        memory.param.read_at = memory.param.read_at or span
        return self.values_of(memory.param).var if memory.param.name in self.mirrored else memory.var

    def target(self, memory, span):
        """The variable of memory that is written as data."""
        memory.param.written_at = memory.param.written_at or span
        return memory.var

    def cells(self, memory, span):
        """The variable of memory whose cells are rung or awaited."""
        memory.param.signal_at = memory.param.signal_at or span
        return memory.var

    def mirror(self, memory, peer, cell, value, word, at):
        if memory.param.name not in self.mirrored:
            return
        number = ir.call("tile.full", [value, ir.integer(1)], [("element", memory.dtype.peal)], at)
        op = "pld.tile.remote_store" if word == "set" else "pld.tile.remote_add"
        operands = [self.bind("value", number, at), self.values_of(memory.param).var, peer, cell]
        self.emit(ir.eval(ir.call(op, operands, [], at), at))

    # ---- collectives

    def whole_window(self, expr):
        """All of a window: collectives work on nothing less."""
        memory = self.memory(expr)
        count = 1
        for size in memory.shape:
            count *= size
        if memory.param.kind != "window" or memory.offset != 0 or count != memory.param.elements:
            refuse(
                f"a collective works on a whole window: this view has {count} elements of {memory.param.elements}", expr.span
            )
        self.source(memory, expr.span)
        self.target(memory, expr.span)
        return memory

    def rows(self, memory, span):
        if memory.shape[0] != self.nranks:
            raise CompileError(f"the target has {memory.shape[0]} rows; one for each of {self.nranks} ranks is needed", span)
        return memory.shape[1]

    def signal(self, expr):
        memory = self.memory(expr)
        if prod(memory.shape) < self.nranks:
            raise CompileError(
                f"the signal has {prod(memory.shape)} cells, for {self.nranks} ranks it needs at least as many",
                expr.span,
            )
        return self.cells_of(memory)

    def collective(self, name, operands, attributes, at):
        """Behind it everybody's result is in place, so that peers may read it."""
        self.emit(ir.eval(ir.call(name, operands, attributes, at), at))
        self.meet(operands[1], at)

    def meet(self, cells, at):
        self.emit(ir.eval(ir.call("pld.system.barrier", [cells], [("recipe", "mesh")], at), at))

    def allreduce(self, expr, at):
        target = self.whole_window(expr.args[0])
        mode = expr.kwargs["mode"]
        if mode == "ring" and self.memory(expr.args[1]).shape[1] != self.nranks:
            found = self.memory(expr.args[1]).shape
            raise CompileError(f"the signal of a ring of {self.nranks} ranks is [{2 * (self.nranks - 1)}, {self.nranks}], found {found}", expr.span)
        words = [("op", REDUCTIONS[expr.kwargs["op"]]), ("recipe", mode)]
        cells = self.signal(expr.args[1]) if len(expr.args) > 1 else self.cells_of(None)
        self.collective("pld.tensor.allreduce", [target.var, cells], words, at)
        return target

    def barrier(self, expr, at):
        memory = self.memory(expr.args[0])
        self.meet(self.signal(expr.args[0]), at)
        return memory

    def broadcast(self, expr, at):
        target, root = self.whole_window(expr.args[0]), expr.kwargs["root"]
        if root >= self.nranks:
            raise CompileError(f"root ({root}) must be a valid rank in [0, {self.nranks})", expr.span)
        operands = [target.var, self.signal(expr.args[1]), ir.integer(root)]
        self.collective("pld.tensor.broadcast", operands, [("recipe", "mesh")], at)
        return target

    def reduce_scatter(self, expr, at):
        target = self.whole_window(expr.args[0])
        self.rows(target, expr.span)
        words = [("op", "sum"), ("recipe", "mesh")]
        self.collective("pld.tensor.reduce_scatter", [target.var, self.signal(expr.args[1])], words, at)
        return target

    def allgather(self, expr, at):
        target = self.whole_window(expr.args[1])
        n = self.rows(target, expr.span)
        tile = self.tile(expr.args[0])
        count = 1
        for size in tile.valid:
            count = self.mul(count, size)
        if count != n:
            raise CompileError(f"local_data has {count} elements, a row of the target {n}", expr.span)
        place = self.expression(self.mul(ir.rank(), n))
        self.emit(ir.eval(ir.call("tile.store", [tile.var, target.var, place], [], at), at))
        self.collective("pld.tensor.allgather", [target.var, self.signal(expr.args[2])], [("recipe", "mesh")], at)
        return target

    def all_to_all(self, expr, at):
        source, target = self.memory(expr.args[0]), self.whole_window(expr.args[1])
        self.rows(target, expr.span)
        if source.shape != target.shape or source.param is target.param:
            raise CompileError(f"input has shape {source.shape}, target {target.shape}: two windows or tensors of one shape", expr.span)
        count = ir.integer(target.param.elements)
        operands = [target.var, ir.integer(0), self.source(source, expr.span), ir.integer(source.offset), count]
        self.emit(ir.eval(ir.call("tensor.copy", operands, [], at), at))
        self.collective("pld.tensor.all_to_all", [target.var, self.signal(expr.args[2])], [("recipe", "mesh")], at)
        return target


def is_atomic(expr):
    return expr.kwargs.get("atomic") == AtomicType.Add


ELEMENTWISE = {f"{space}.{kind}" for space in ("tile", "tensor") for kind in TILE_OPS}
OPS = {
    "tile.load": Emitter.load,
    "pld.tile.remote_load": Emitter.load,
    "tile.store": Emitter.store,
    "tile.full": Emitter.full,
    "tensor.read": Emitter.read,
    "tensor.write": Emitter.write,
    "tensor.slice": Emitter.slice,
    "pld.tile.remote_store": Emitter.remote_store,
    "pld.tensor.remote_store": Emitter.remote_store,
    "pld.tensor.put": Emitter.transfer,
    "pld.tensor.get": Emitter.transfer,
    "pld.system.notify": Emitter.notify,
    "pld.system.wait": Emitter.wait,
    "pld.system.get_comm_ctx": Emitter.context,
    "pld.system.rank": lambda self, expr, at: ir.rank(at),
    "pld.system.nranks": lambda self, expr, at: self.nranks,
    "pld.tensor.allreduce": Emitter.allreduce,
    "pld.tensor.barrier": Emitter.barrier,
    "pld.tensor.broadcast": Emitter.broadcast,
    "pld.tensor.reduce_scatter": Emitter.reduce_scatter,
    "pld.tensor.allgather": Emitter.allgather,
    "pld.tensor.all_to_all": Emitter.all_to_all,
}
