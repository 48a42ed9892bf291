# SPDX-License-Identifier: Apache-2.0
"""What the variables of a body stand for while it is lowered. A number is a Python int or bool where it is known, and an
expression of Peal where it is not."""

import operator
from math import prod

from peal._peal import ir


def dense_strides(shape, times=operator.mul):
    """How far apart elements are in each dimension, where there are no gaps."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step = times(step, size)
    return strides


class Memory:
    """A tensor, or the own rank's slice of a window: a parameter of the kernel, or a box of its elements."""

    def __init__(self, param, offset, shape, dtype, strides=None):
        self.param, self.offset, self.shape, self.dtype = param, offset, shape, dtype
        self.strides = dense_strides(shape) if strides is None else strides

    @property
    def var(self):
        return self.param.var

    def is_dense(self):
        wanted = dense_strides(self.shape)
        return all(size == 1 or a == b for size, a, b in zip(self.shape, self.strides, wanted))

    def is_whole(self):
        return isinstance(self.offset, int) and self.offset == 0 and prod(self.shape) == self.param.elements

    def key(self):
        return (id(self.param), self.offset, tuple(self.shape), tuple(self.strides))


class Tile:
    """A value of Peal's tile memory: the valid part, row after row. `number`: what all elements are, where it is known."""

    def __init__(self, var, dtype, valid, number=None):
        self.var, self.dtype, self.valid, self.number = var, dtype, valid, number

    def replaced(self, var):
        return Tile(var, self.dtype, self.valid)


class Context:
    """The domain of a window: the ranks of the kernel that are in it, in its order; None: all of them."""

    def __init__(self, members):
        self.members = members


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
        return isinstance(b, Context) and a.members == b.members
    if isinstance(a, Tile) and isinstance(b, Tile):
        return a.var is b.var
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    return a is b
