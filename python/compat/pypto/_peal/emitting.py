# SPDX-License-Identifier: Apache-2.0
"""Expressions and ops of a body, as nodes of Peal."""

from contextlib import contextmanager

from peal._peal import ir

from . import nodes
from .arithmetic import PYTHON, CompileError, refuse
from .collectives import Collectives
from .moving import TILE_OPS, Moving
from .rewriting import Fresh
from .ringing import Ringing
from .values import Several, Tile, is_number

RESERVED = set(
    "kernel let for yield if else notify wait put get advance require rank nranks lane nlanes peers and or not xor generation "
    "epoch log2 min max sum inf nan in out inout window index carry by f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64".split()
)


class Emitter(Moving, Ringing, Collectives):
    def __init__(self, nranks):
        self.nranks = nranks
        self.values, self.symbols = {}, {}
        self.returned = self.yielded = None
        self.loops = 0
        self.names = Fresh(RESERVED)
        self.out = []

    # ---- names and places

    def fresh(self, hint):
        return self.names("".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in hint) or "value")

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
        if isinstance(value, float):
            return ir.floating(value)
        return value.var if isinstance(value, Tile) else value

    def binary(self, symbol, a, b, at=(0, 0, 0)):
        if isinstance(a, int) and isinstance(b, int):
            return PYTHON[symbol](a, b)
        if symbol in ("and", "or") and (isinstance(a, int) or isinstance(b, int)):
            known, other = (a, b) if isinstance(a, int) else (b, a)
            return other if known == (symbol == "and") else known
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
            value = self.value(expr.operand)
            if isinstance(value, Tile) and expr.type.dtype.is_float():
                refuse("data cannot be made another type of element", expr.span)
            return value
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


ELEMENTWISE = {f"{space}.{kind}" for space in ("tile", "tensor") for kind in TILE_OPS}
OPS = {
    "tile.load": Emitter.load,
    "pld.tile.remote_load": Emitter.load,
    "tile.store": Emitter.store,
    "tile.full": Emitter.full,
    "tile.read": Emitter.tile_read,
    "tensor.read": Emitter.read,
    "tensor.write": Emitter.write,
    "tensor.slice": Emitter.slice,
    "tensor.assemble": Emitter.assemble,
    "tensor.reshape": Emitter.reshape,
    "tile.slice": Emitter.tile_slice,
    "tile.create": Emitter.create,
    "tensor.create": Emitter.create_tensor,
    "pld.tile.remote_store": Emitter.remote_store,
    "pld.tensor.remote_store": Emitter.remote_store,
    "pld.tensor.put": Emitter.transfer,
    "pld.tensor.get": Emitter.transfer,
    "pld.tile.put": Emitter.transfer,
    "pld.tile.get": Emitter.transfer,
    "pld.system.notify": Emitter.notify,
    "pld.system.wait": Emitter.wait,
    "pld.system.get_comm_ctx": Emitter.context,
    "pld.system.rank": Emitter.rank,
    "pld.system.nranks": Emitter.nranks_of,
    "pld.tensor.allreduce": Emitter.allreduce,
    "pld.tensor.barrier": Emitter.barrier,
    "pld.tensor.broadcast": Emitter.broadcast,
    "pld.tensor.reduce_scatter": Emitter.reduce_scatter,
    "pld.tensor.allgather": Emitter.allgather,
    "pld.tensor.all_to_all": Emitter.all_to_all,
    "pld.tensor.all_to_all_v": Emitter.all_to_all_v,
}
