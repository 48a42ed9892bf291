# SPDX-License-Identifier: Apache-2.0
"""Expressions of a body. What only Python constants go into is worked out by Python; the rest becomes nodes."""

import ast
import enum
import operator
import types

from peal._unsupported import unsupported

from ..language.parser.diagnostics import (
    InvalidOperationError,
    ParserSyntaxError,
    ParserTypeError,
    UndefinedVariableError,
    UnsupportedFeatureError,
)
from . import dtypes, nodes, registry
from .enums import Role
from .ops_local import wider

ARITHMETIC = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.Div: ("/", operator.truediv),
}
COMPARISONS = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
HOST_ONLY = ("pld.alloc_window_buffer", "pld.tensor.alloc_window_buffer", "pld.world_size", "pld.system.world_size")
USABLE = (int, float, bool, str, list, tuple, dtypes.DataType, enum.Enum, nodes.DynVar, types.ModuleType)


def difference(high, low):
    """How many elements are between two indices."""
    known = registry.constant(high), registry.constant(low)
    if None not in known:
        return nodes.ConstInt(known[0] - known[1], dtypes.INDEX)
    if isinstance(high, nodes.Add) and str(high.left) == str(low) and registry.constant(high.right) is not None:
        return high.right  # r:r + 1
    return high if known[1] == 0 else nodes.BINARY["-"](high, low, dtypes.INDEX)


class ExpressionParser:
    def __init__(self, filename, names, signatures):
        self.filename, self.names, self.signatures = filename, names, signatures
        self.scope = {}  # what the function has defined: variables, and words that are known
        self.yielded = None

    def span(self, tree):
        return nodes.Span(
            self.filename, tree.lineno, tree.col_offset + 1, tree.end_lineno, (tree.end_col_offset or 0) + 1
        )

    def value(self, tree):
        return self.as_node(self.expression(tree), tree)

    def as_node(self, value, tree):
        try:
            with registry.at(self.span(tree)):
                return registry.as_expr(value)
        except TypeError as error:
            raise ParserTypeError(str(error), self.span(tree)) from error

    def expression(self, tree):
        read = getattr(self, f"value_{type(tree).__name__}", None)
        if read is None:
            raise UnsupportedFeatureError(f"{type(tree).__name__} expressions are not supported", self.span(tree))
        with registry.at(self.span(tree)):
            return read(tree)

    # ---- names

    def value_Constant(self, tree):
        return tree.value

    def value_Name(self, tree):
        if tree.id in self.scope:
            return self.scope[tree.id]
        if tree.id in self.names:
            value = self.names[tree.id]
            if isinstance(value, USABLE) or value is None:
                return value
            raise ParserTypeError(
                f"'{tree.id}' is a {type(value).__name__}, which a body cannot use", self.span(tree)
            )
        raise UndefinedVariableError(f"'{tree.id}' is not defined", self.span(tree))

    def value_List(self, tree):
        return [self.expression(e) for e in tree.elts]

    def value_Tuple(self, tree):
        return tuple(self.expression(e) for e in tree.elts)

    def written_name(self, tree):
        """The dotted name of what is called or named, if it begins with `pl` or `pld`."""
        if isinstance(tree, ast.Call):
            tree = tree.func
        parts = []
        while isinstance(tree, ast.Attribute):
            parts.append(tree.attr)
            tree = tree.value
        if not parts or not isinstance(tree, ast.Name) or tree.id not in ("pl", "pld") or tree.id in self.scope:
            return None
        return ".".join([tree.id, *reversed(parts)])

    def value_Attribute(self, tree):
        name = self.written_name(tree)
        base = self.expression(tree.value)
        if isinstance(getattr(base, "type", None), (nodes.TensorType, nodes.TileType)) and tree.attr in ("shape", "dtype"):
            known = [d.value if isinstance(d, nodes.ConstInt) else d for d in base.type.shape]
            return tuple(known) if tree.attr == "shape" else base.type.dtype
        if isinstance(base, nodes.Expr):
            raise UnsupportedFeatureError(f"attribute '{tree.attr}' of a value is not supported", self.span(tree))
        try:
            return getattr(base, tree.attr)
        except AttributeError as error:
            raise InvalidOperationError(unsupported(name or tree.attr), self.span(tree)) from error

    # ---- operators

    def value_BinOp(self, tree):
        symbol, python = self.operator(tree.op, ARITHMETIC, tree)
        return self.combine(symbol, python, self.expression(tree.left), self.expression(tree.right), tree)

    def value_Compare(self, tree):
        if len(tree.ops) != 1:
            raise ParserSyntaxError("comparisons do not chain: write them one by one", self.span(tree))
        symbol, python = self.operator(tree.ops[0], COMPARISONS, tree)
        return self.combine(symbol, python, self.expression(tree.left), self.expression(tree.comparators[0]), tree)

    def operator(self, found, table, tree):
        if type(found) not in table:
            raise UnsupportedFeatureError(f"operator {type(found).__name__} is not supported", self.span(tree))
        return table[type(found)]

    def combine(self, symbol, python, left, right, tree):
        if not isinstance(left, nodes.Expr) and not isinstance(right, nodes.Expr):
            try:
                return python(left, right)
            except (TypeError, ArithmeticError) as error:
                raise ParserTypeError(f"{ast.unparse(tree)}: {error}", self.span(tree)) from error
        left, right = self.as_node(left, tree), self.as_node(right, tree)
        for side in (left, right):
            if not isinstance(side.type, nodes.ScalarType):
                raise ParserTypeError(
                    f"operator '{symbol}' takes scalars, found {side.type}; use pl.add and its like", self.span(tree)
                )
        if symbol == "/" or left.type.dtype.is_float() or right.type.dtype.is_float():
            raise UnsupportedFeatureError("floating scalars are not combined in kernels", self.span(tree))
        try:
            dtype = wider(left.type.dtype, right.type.dtype)
        except TypeError as error:
            raise ParserTypeError(f"operator '{symbol}': {error}", self.span(tree)) from error
        made = nodes.BINARY[symbol]
        return made(left, right, dtypes.BOOL if made.compares else dtype, self.span(tree))

    def value_BoolOp(self, tree):
        symbol = "and" if isinstance(tree.op, ast.And) else "or"
        values = [self.value(v) for v in tree.values]
        for value in values:
            if value.type != nodes.ScalarType(dtypes.BOOL):
                raise ParserTypeError(f"'{symbol}' takes conditions, found {value.type}", self.span(tree))
        result = values[0]
        for value in values[1:]:
            result = nodes.BINARY[symbol](result, value, dtypes.BOOL, self.span(tree))
        return result

    def value_UnaryOp(self, tree):
        operand = self.expression(tree.operand)
        negates = isinstance(tree.op, ast.USub)
        if not negates and not isinstance(tree.op, ast.Not):
            raise UnsupportedFeatureError(f"operator {type(tree.op).__name__} is not supported", self.span(tree))
        if not isinstance(operand, nodes.Expr):
            return -operand if negates else not operand
        kind = operand.type
        wanted = isinstance(kind, nodes.ScalarType) and (kind.dtype.is_int() if negates else kind.dtype == dtypes.BOOL)
        if not wanted:
            raise ParserTypeError(f"operator '{'-' if negates else 'not'}' does not take {kind}", self.span(tree))
        return (nodes.Neg if negates else nodes.Not)(operand, kind.dtype, self.span(tree))

    # ---- subscripts

    def value_Subscript(self, tree):
        base = self.expression(tree.value)
        items = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
        if isinstance(base, (list, tuple)) and len(items) == 1:
            index = self.expression(items[0])
            if isinstance(index, int):
                return base[index]
        if not isinstance(getattr(base, "type", None), nodes.TensorType):
            raise UnsupportedFeatureError("a subscript is taken of a tensor", self.span(tree))
        shape = base.type.shape
        if len(items) > len(shape):
            raise ParserTypeError(f"{len(items)} indices for {base.type}", self.span(tree))
        if not any(isinstance(item, ast.Slice) for item in items) and len(items) == len(shape):
            offsets = nodes.MakeTuple([self.index(item) for item in items], self.span(tree))
            return self.op_call("pl.read", [base, offsets], {}, tree)
        offsets, extent, dropped = self.part(items, shape)
        return self.op_call("pl.slice", [base, extent, offsets], {"drop_dims": dropped}, tree)

    def index(self, tree):
        index = self.value(tree)
        if registry.constant(index) is not None and registry.constant(index) < 0:
            raise UnsupportedFeatureError("negative indices are not supported", self.span(tree))
        return index

    def part(self, items, shape):
        """Where a subscript begins, how far it goes, and the dimensions that it drops."""
        offsets, extent, dropped = [], [], []
        for i, size in enumerate(shape):
            item = items[i] if i < len(items) else ast.Slice()
            if isinstance(item, ast.Slice):
                if item.step is not None:
                    raise UnsupportedFeatureError("steps in subscripts are not supported", self.span(item.step))
                low = nodes.ConstInt(0, dtypes.INDEX) if item.lower is None else self.index(item.lower)
                high = size if item.upper is None else self.index(item.upper)
                offsets.append(low)
                extent.append(difference(high, low))
            else:
                offsets.append(self.index(item))
                extent.append(nodes.ConstInt(1, dtypes.INDEX))
                dropped.append(i)
        return offsets, extent, dropped

    # ---- calls

    def value_Call(self, tree):
        if isinstance(tree.func, ast.Attribute):
            base = tree.func.value
            if isinstance(base, ast.Name) and base.id == "self" and "self" not in self.scope:
                return self.function_call(tree)
        if isinstance(tree.func, ast.Name):
            return self.bare_call(tree)
        name = self.written_name(tree)
        if name is None:
            return self.python_call(tree)
        if name in ("pl.range", "pl.parallel", "pl.unroll", "pl.yield_"):
            raise ParserSyntaxError(f"{name} cannot stand here", self.span(tree))
        args = [self.operand(a) for a in tree.args]
        keywords = {}
        for keyword in tree.keywords:
            if keyword.arg is None:
                raise UnsupportedFeatureError("**kwargs is not supported", self.span(tree))
            keywords[keyword.arg] = self.operand(keyword.value)
        if name == "pl.dynamic":
            return nodes.DynVar(*args, **keywords)
        return self.op_call(name, args, keywords, tree)

    def operand(self, tree):
        value = self.expression(tree)
        self.require_no_buffer(value, tree)
        return value

    def require_no_buffer(self, value, tree):
        """A buffer is known by the name that it is given."""
        if isinstance(value, nodes.Call) and value.op.name == "pld.tensor.alloc_window_buffer":
            words = "pld.alloc_window_buffer must appear as the RHS of a simple assignment"
            raise ParserSyntaxError(words, self.span(tree))

    def op_call(self, name, args, keywords, tree):
        found = registry.OPS.get(name)
        if found is None:
            # A method of a word: pl.FP32.get_byte()
            words = name.rsplit(".", 1)
            if words[1] in ("get_byte", "get_bit") and not args:
                return getattr(self.expression(tree.func.value), words[1])()
            raise InvalidOperationError(unsupported(name), self.span(tree))
        self.require_place(name, keywords, tree)
        try:
            with registry.at(self.span(tree)), registry.inside(self.function.is_host()):
                return found(*args, **keywords)
        except SyntaxError as error:
            raise ParserSyntaxError(f"{name}: {error}", self.span(tree)) from error
        except (TypeError, ValueError) as error:
            short = name.split(".", 1)[1]
            raise InvalidOperationError(f"{short}: {error}", self.span(tree)) from error

    def require_place(self, name, keywords, tree):
        function = self.function
        if name in HOST_ONLY and not function.is_host():
            found = function.func_type.name
            raise ParserSyntaxError(f"{name} stands in a HOST function only; found in {found} function {function.name}", self.span(tree))
        if name in HOST_ONLY[:2] and "name" in keywords:
            raise ParserSyntaxError(f"{name}: the 'name' kwarg cannot be passed explicitly", self.span(tree))

    def bare_call(self, tree):
        """f(...): no function of the language is called like this."""
        return self.python_call(tree)

    def python_call(self, tree):
        if isinstance(tree.func, ast.Attribute) and tree.func.attr in ("get_byte", "get_bit", "to_string"):
            base = self.expression(tree.func.value)
            if isinstance(base, dtypes.DataType):
                return getattr(base, tree.func.attr)()
        raise UnsupportedFeatureError(
            f"{ast.unparse(tree.func)}(...) cannot be called here: a body calls pl.…, pld.… and self.…", self.span(tree)
        )

    def function_call(self, tree):
        name = tree.func.attr
        callee = self.signatures.get(name)
        if callee is None:
            raise UndefinedVariableError(f"the program has no function '{name}'", self.span(tree))
        return self.call_of(f"self.{name}", callee, [self.as_node(self.operand(a), a) for a in tree.args], tree)

    def call_of(self, written, callee, args, tree):
        attrs = {}
        for keyword in tree.keywords:
            if keyword.arg not in ("device", "attrs"):
                raise ParserTypeError(f"{written}: unexpected keyword argument '{keyword.arg}'", self.span(tree))
            if keyword.arg == "device":
                attrs["device"] = self.value(keyword.value)
        if "device" in attrs and callee.role != Role.Orchestrator:
            raise ParserTypeError(f"'device' is for Orchestrator functions; {callee.name} is {callee.func_type.name}", self.span(tree))
        if len(args) != len(callee.params):
            raise ParserTypeError(f"{written} expects {len(callee.params)} argument(s), got {len(args)}", self.span(tree))
        for arg, param in zip(args, callee.params):
            wants_memory = isinstance(param.type, nodes.TensorType)
            fits = isinstance(arg.type, nodes.TensorType if wants_memory else nodes.ScalarType)
            if not fits and not isinstance(arg.type, nodes.UnknownType):
                raise ParserTypeError(f"{written}: parameter '{param}' is {param.type}, found {arg.type}", self.span(tree))
        call = nodes.Call(nodes.GlobalVar(callee.name), args, {}, None, self.span(tree), attrs)
        returned = callee.returned or []
        kinds = [args[i].type if i is not None else nodes.UnknownType() for i in returned]
        if len(kinds) == 1:
            call.type = kinds[0]
        elif kinds:
            call.type = nodes.TupleType(kinds)
        call.aliases = [registry.alias_of(args[i]) if i is not None else None for i in returned]
        return call

    # ---- which parameter of the function a value is the memory of

    def alias_list(self, value):
        if isinstance(value, nodes.Call) and isinstance(value.op, nodes.GlobalVar):
            return value.aliases
        return [registry.alias_of(value)]
