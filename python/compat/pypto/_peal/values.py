# SPDX-License-Identifier: Apache-2.0
"""What the variables of a body stand for while it is lowered. A number is a Python int or bool where it is known, and an
expression of Peal where it is not."""

from peal._peal import ir


class Memory:
    """A tensor, or the own rank's slice of a window: a parameter of the kernel, from an element on."""

    def __init__(self, param, offset, shape, dtype):
        self.param, self.offset, self.shape, self.dtype = param, offset, shape, dtype

    @property
    def var(self):
        return self.param.var

    def key(self):
        return (id(self.param), self.offset, tuple(self.shape))


class Tile:
    """A value of Peal's tile memory: the valid part, row after row. `is_scalar`: one element that was read as a number."""

    def __init__(self, var, dtype, valid, is_scalar=False):
        self.var, self.dtype, self.valid, self.is_scalar = var, dtype, valid, is_scalar

    def replaced(self, var):
        return Tile(var, self.dtype, self.valid, self.is_scalar)


class Context:
    """The domain of a window."""


class Several:
    """What a function with several values returns."""

    def __init__(self, items):
        self.items = items


def is_number(value):
    return isinstance(value, (int, ir.Expression))


def same(a, b):
    if isinstance(a, Memory) and isinstance(b, Memory):
        return a.key() == b.key()
    if isinstance(a, Context):
        return isinstance(b, Context)
    if isinstance(a, Tile) and isinstance(b, Tile):
        return a.var is b.var
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return a is b
