# SPDX-License-Identifier: Apache-2.0
"""A program as it was read: types, expressions, statements, functions. Every node knows its place in the user's file."""

import linecache

from peal._unsupported import Named as _Named

from . import dtypes
from .enums import AtomicType, Level, Role


class Span:
    """A place in a file: lines and columns count from 1."""

    def __init__(self, filename, begin_line, begin_column, end_line=None, end_column=None):
        self.filename, self.begin_line, self.begin_column = filename, begin_line, begin_column
        self.end_line = begin_line if end_line is None else end_line
        self.end_column = begin_column if end_column is None else end_column

    @staticmethod
    def unknown():
        return Span("", 0, 0)

    def is_known(self):
        return self.begin_line > 0

    def text(self):
        return linecache.getline(self.filename, self.begin_line).rstrip("\n")

    def lines(self):
        """The lines that it begins and ends in, and those between."""
        return [linecache.getline(self.filename, n).rstrip("\n") for n in range(self.begin_line, self.end_line + 1) if n > 0]

    def at(self):
        """Line, column and length, as Peal's nodes have them."""
        length = self.end_column - self.begin_column if self.end_line == self.begin_line else 0
        return (self.begin_line, self.begin_column, max(length, 1)) if self.is_known() else (0, 0, 0)

    def shown(self, message):
        """A message with its place in front, and below it the line with a caret."""
        if not self.is_known():
            return message
        line = self.text()
        if not line:
            return f"{self}: {message}"
        number = f"{self.begin_line:5} | "
        return f"{self}: {message}\n{number}{line}\n{' ' * (len(number) - 2)}| {' ' * (self.begin_column - 1)}^"

    def __str__(self):
        return f"{self.filename}:{self.begin_line}:{self.begin_column}"


# ---------------------------------------------------------------------------- types


def dims(shape):
    return [ConstInt(d, dtypes.INDEX) if isinstance(d, int) else d for d in shape]


def show_dim(dim):
    return str(dim.value) if isinstance(dim, ConstInt) else str(dim)


class Type:
    def key(self):
        return ()

    def __eq__(self, other):
        return type(self) is type(other) and self.key() == other.key()

    def __hash__(self):
        return hash((type(self).__name__, str(self.key())))

    def __repr__(self):
        return str(self)


class UnknownType(Type):
    """Of a call made for its effect, or of a function that is not known yet."""

    def __str__(self):
        return "unknown"


class ScalarType(Type):
    def __init__(self, dtype):
        self.dtype = dtype

    def key(self):
        return self.dtype

    def __str__(self):
        return f"pl.Scalar[pl.{self.dtype.name}]"


class ShapedType(Type):
    prefix = ""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = dims(shape), dtype

    def key(self):
        return (str(self.shape), self.dtype)

    def __str__(self):
        return f"{self.prefix}[[{', '.join(show_dim(d) for d in self.shape)}], pl.{self.dtype.name}]"


class TensorType(ShapedType):
    prefix = "pl.Tensor"


class DistributedTensorType(TensorType):
    prefix = "pld.DistributedTensor"
    window_buffer = None


class TileType(ShapedType):
    """Physical shape, and the part of it that is valid."""

    prefix = "pl.Tile"

    def __init__(self, shape, dtype, valid_shape=None):
        super().__init__(shape, dtype)
        self.valid_shape = dims(shape if valid_shape is None else valid_shape)

    def key(self):
        return (*super().key(), str(self.valid_shape))


class PtrType(Type):
    def __str__(self):
        return "Ptr"


class CommCtxType(Type):
    def __str__(self):
        return "CommCtx"


class TupleType(Type):
    def __init__(self, types):
        self.types = list(types)

    def key(self):
        return tuple(self.types)

    def __str__(self):
        return f"tuple[{', '.join(map(str, self.types))}]"


# ---------------------------------------------------------------------------- expressions


def arithmetic(symbol, left, right):
    """Of symbols in shapes, where Python itself evaluates them."""
    left, right = dims([left, right])
    return BINARY[symbol](left, right, dtypes.INDEX)


class Expr:
    type = UnknownType()
    span = Span.unknown()

    def __repr__(self):
        return str(self)

    def __add__(self, other):
        return arithmetic("+", self, other)

    def __radd__(self, other):
        return arithmetic("+", other, self)

    def __sub__(self, other):
        return arithmetic("-", self, other)

    def __rsub__(self, other):
        return arithmetic("-", other, self)

    def __mul__(self, other):
        return arithmetic("*", self, other)

    def __rmul__(self, other):
        return arithmetic("*", other, self)

    def __floordiv__(self, other):
        return arithmetic("//", self, other)


class Var(Expr):
    def __init__(self, name_hint, type, span=None):
        self.name_hint, self.type, self.span = name_hint, type, span or Span.unknown()

    def __str__(self):
        return self.name_hint


class DynVar(Var):
    """A dimension that is known when the program meets its arguments. Two of one name are one."""

    def __init__(self, name):
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"pl.dynamic: the name must be an identifier, found {name!r}")
        super().__init__(name, ScalarType(dtypes.INDEX))


class IterArg(Var):
    """A carried value, inside its loop."""

    def __init__(self, name_hint, type, init_value, span=None):
        super().__init__(name_hint, type, span)
        self.init_value = init_value


class Const(Expr):
    def __init__(self, value, dtype, span=None):
        self.value, self.dtype = value, dtype
        self.type, self.span = ScalarType(dtype), span or Span.unknown()

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, Const) else other)

    def __hash__(self):
        return hash(self.value)

    def __str__(self):
        return str(self.value)


class ConstInt(Const):
    pass


class ConstFloat(Const):
    pass


class ConstBool(Const):
    pass


class MakeTuple(Expr):
    def __init__(self, elements, span=None):
        self.elements, self.span = list(elements), span or Span.unknown()
        self.type = TupleType([e.type for e in self.elements])

    def __str__(self):
        return f"[{', '.join(map(str, self.elements))}]"


class TupleGetItemExpr(Expr):
    def __init__(self, tuple_, index, type, span=None):
        self.tuple, self.index, self.type, self.span = tuple_, index, type, span or Span.unknown()

    def __str__(self):
        return f"{self.tuple}[{self.index}]"


class BinaryExpr(Expr):
    symbol = peal = ""
    compares = False

    def __init__(self, left, right, dtype, span=None):
        self.left, self.right = left, right
        self.type, self.span = ScalarType(dtype), span or Span.unknown()

    def __str__(self):
        if self.symbol in ("min", "max"):
            return f"pl.{self.symbol}({self.left}, {self.right})"
        return f"({self.left} {self.symbol} {self.right})"


def _binary(name, symbol, peal=None, compares=False):
    made = type(name, (BinaryExpr,), {"symbol": symbol, "peal": peal or symbol, "compares": compares})
    globals()[name] = made
    return made


BINARY = {
    cls.symbol: cls
    for cls in [
        _binary("Add", "+"),
        _binary("Sub", "-"),
        _binary("Mul", "*"),
        _binary("FloorDiv", "//", "/"),
        _binary("FloorMod", "%"),
        _binary("BitShiftLeft", "<<"),
        _binary("BitShiftRight", ">>"),
        _binary("Min", "min"),
        _binary("Max", "max"),
        _binary("Eq", "==", compares=True),
        _binary("Ne", "!=", compares=True),
        _binary("Lt", "<", compares=True),
        _binary("Le", "<=", compares=True),
        _binary("Gt", ">", compares=True),
        _binary("Ge", ">=", compares=True),
        _binary("And", "and", compares=True),
        _binary("Or", "or", compares=True),
    ]
}


class UnaryExpr(Expr):
    symbol = ""

    def __init__(self, operand, dtype, span=None):
        self.operand = operand
        self.type, self.span = ScalarType(dtype), span or Span.unknown()

    def __str__(self):
        return f"({self.symbol}{self.operand})"


class Neg(UnaryExpr):
    symbol, peal = "-", "-"


class Not(UnaryExpr):
    symbol, peal = "not ", "not"


class Cast(UnaryExpr):
    def __str__(self):
        return f"pl.cast({self.operand}, pl.{self.type.dtype.name})"


class Op:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return isinstance(other, Op) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return self.name


class GlobalVar(Op):
    """A function of the program, where it is called."""


class Call(Expr):
    """An op or a function on operands; `kwargs` are what is known when the program is read."""

    def __init__(self, op, args, kwargs=None, type=None, span=None, attrs=None):
        self.op, self.args, self.kwargs = op, list(args), dict(kwargs or {})
        self.attrs = dict(attrs or {})
        self.type, self.span = type or UnknownType(), span or Span.unknown()

    def __str__(self):
        if self.op.name == "tensor.slice":
            dropped = f", drop_dims={self.kwargs['drop_dims']}" if self.kwargs["drop_dims"] else ""
            return f"pl.tensor.slice({self.args[0]}, {self.args[2]}, {self.args[1]}{dropped})"
        if self.op.name in ("pld.tile.put", "pld.tile.get"):
            dst, peer, src, to, source, shape, *stages = self.args
            named = f"dst_offsets={to}, src_offsets={source}, shape={shape}"
            adds = ", atomic=pld.AtomicType.Add" if self.kwargs.get("atomic") is AtomicType.Add else ""
            return f"{self.op.name}({', '.join(map(str, (dst, peer, src, *stages)))}, {named}{adds})"
        if self.op.name in ("tile.create", "tensor.create"):
            init = f", init_value={self.kwargs['init_value']}" if "init_value" in self.kwargs else ""
            return f"pl.{self.op.name}({self.args[0]}, pl.{self.type.dtype.name}{init})"
        if self.op.name == "tile.full":
            return f"pl.tile.full({self.args[0]}, pl.{self.type.dtype.name}, {self.args[1]})"
        told = {k: v for k, v in self.kwargs.items() if v is not AtomicType.None_}
        named = [f"{k}={show_value(v)}" for k, v in {**told, **self.attrs}.items()]
        called = f"self.{self.op.name}" if isinstance(self.op, GlobalVar) else spelled(self.op.name)
        return f"{called}({', '.join([*map(show_value, self.args), *named])})"


def spelled(op):
    """How a program writes an op: under `pl`, or `pld` for what is distributed."""
    return op if op.startswith("pld.") else f"pl.{op}"


def show_value(value):
    if isinstance(value, dtypes.DataType):
        return f"pl.{value.name}"
    if hasattr(value, "name") and not isinstance(value, Expr):
        prefix = "pl" if type(value).__name__ in ("MemorySpace", "Level", "Role") else "pld"
        return f"{prefix}.{type(value).__name__}.{value.name}"
    return repr(value) if isinstance(value, str) else str(value)


# ---------------------------------------------------------------------------- statements


class Stmt:
    span = Span.unknown()


class SeqStmts(Stmt):
    def __init__(self, stmts, span=None):
        self.stmts, self.span = list(stmts), span or Span.unknown()


class AssignStmt(Stmt):
    def __init__(self, var, value, span=None):
        self.var, self.value, self.span = var, value, span or Span.unknown()


class EvalStmt(Stmt):
    def __init__(self, expr, span=None):
        self.expr, self.span = expr, span or Span.unknown()


class ForStmt(Stmt):
    def __init__(self, loop_var, start, stop, step, iter_args, body, return_vars, kind, span=None):
        self.loop_var, self.start, self.stop, self.step = loop_var, start, stop, step
        self.iter_args, self.body, self.return_vars = list(iter_args), body, list(return_vars)
        self.kind, self.span = kind, span or Span.unknown()


class WhileStmt(Stmt):
    """In no program that is read here: `while` is refused."""

    def __init__(self, condition, iter_args, body, return_vars, span=None):
        self.condition, self.iter_args, self.body = condition, list(iter_args), body
        self.return_vars, self.span = list(return_vars), span or Span.unknown()


class IfStmt(Stmt):
    def __init__(self, condition, then_body, else_body, return_vars=(), span=None):
        self.condition, self.then_body, self.else_body = condition, then_body, else_body
        self.return_vars, self.span = list(return_vars), span or Span.unknown()


class YieldStmt(Stmt):
    def __init__(self, value, span=None):
        self.value, self.span = list(value), span or Span.unknown()


class ReturnStmt(Stmt):
    def __init__(self, value, span=None):
        self.value, self.span = list(value), span or Span.unknown()


# ---------------------------------------------------------------------------- functions


class Function(_Named):
    def __init__(self, name, params, param_directions, return_types, body, func_type, level, role, span):
        self.name, self.params, self.param_directions = name, params, param_directions
        self.return_types, self.body, self.func_type = return_types, body, func_type
        self.level, self.role, self.span = level, role, span
        self.requires_runtime_binding = False
        self.python = None  # of a sub-worker: what runs
        self.has_return_annotation = bool(return_types)

    def is_host(self):
        return self.level == Level.HOST and self.role == Role.Orchestrator

    def is_sub_worker(self):
        """Of the host: Python that runs between what devices do."""
        return self.level == Level.HOST and self.role == Role.SubWorker

    def __str__(self):
        from .printing import print_function

        return print_function(self)


class Program(_Named):
    """What `@pl.program` makes of a class."""

    def __init__(self, name, functions, span=None):
        self.name, self.span = name, span or Span.unknown()
        self.functions = {GlobalVar(f.name): f for f in functions}

    def get_function(self, name):
        return self.functions.get(GlobalVar(name))

    def __getitem__(self, name):
        found = self.get_function(name)
        if found is None:
            raise KeyError(f"program {self.name} has no function {name!r}; it has {', '.join(g.name for g in self.functions)}")
        return found

    def host(self):
        """The functions that the host runs."""
        return [f for f in self.functions.values() if f.is_host()]

    def __str__(self):
        from .printing import print_program

        return print_program(self)


__all__ = [name for name in dict(globals()) if not name.startswith("_")]
