# SPDX-License-Identifier: Apache-2.0
"""Integers that are known, and expressions where they are not."""

import operator

from . import nodes

PYTHON = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "min": min,
    "max": max,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
}


class CompileError(ValueError):
    """What is wrong with a program for these devices and arguments, and where in the user's file."""

    def __init__(self, message, span=None):
        self.span = span
        super().__init__(message if span is None else span.shown(message))


def refuse(message, span):
    raise CompileError(message, span)


def fold(expr, value):
    """An expression of integers; `value` says what its variables and calls are."""
    if isinstance(expr, nodes.Const):
        return expr.value
    if isinstance(expr, nodes.BinaryExpr):
        left, right = value(expr.left), value(expr.right)
        if expr.symbol in ("//", "%") and right == 0:
            raise CompileError("division by zero", expr.span)
        return PYTHON[expr.symbol](left, right)
    if isinstance(expr, nodes.Neg):
        return -value(expr.operand)
    if isinstance(expr, nodes.Not):
        return not value(expr.operand)
    if isinstance(expr, nodes.Cast):
        return value(expr.operand)
    if isinstance(expr, nodes.DynVar):
        return value(expr)
    raise CompileError(f"a {type(expr).__name__} is not supported here", expr.span)


def solve(param, shape, symbols):
    """Symbols of a parameter's shape, from the shape of its argument: s, s + c, s - c, s * c, s // c."""
    if len(param.type.shape) != len(shape):
        return
    for dim, size in zip(param.type.shape, shape):
        inverse = solved(dim, size)
        if inverse is not None:
            name, value = inverse
            symbols.setdefault(name, value)


def solved(dim, size):
    if isinstance(dim, nodes.DynVar):
        return dim.name_hint, size
    if not isinstance(dim, nodes.BinaryExpr):
        return None
    sides = (dim.left, dim.right)
    known = [s.value for s in sides if isinstance(s, nodes.ConstInt)]
    unknown = [s for s in sides if not isinstance(s, nodes.ConstInt)]
    if len(known) != 1:
        return None
    constant_first = isinstance(dim.left, nodes.ConstInt)
    inner = {
        "+": lambda: size - known[0],
        "-": lambda: known[0] - size if constant_first else size + known[0],
        "*": lambda: size // known[0] if known[0] and size % known[0] == 0 else None,
        "//": lambda: None if constant_first else size * known[0],
    }.get(dim.symbol, lambda: None)()
    return None if inner is None else solved(unknown[0], inner)
