# SPDX-License-Identifier: Apache-2.0
"""Regions of memory: runs of elements, one or several at a stride."""

from math import prod

from peal._peal import ir

from .arithmetic import CompileError, refuse


class Run:
    """`rows` runs of `count` elements, the first at `offset`, each `stride` after the one before."""

    def __init__(self, offset, count, rows, stride, span):
        self.offset, self.count, self.rows, self.stride, self.span = offset, count, rows, stride, span

    def is_one(self):
        return isinstance(self.rows, int) and self.rows == 1

    def place(self, at):
        if not self.is_one():
            refuse("a tile of rows that are not one run of memory is not supported", self.span)
        return [at.expression(self.offset)]

    def operands(self, at):
        return [*self.place(at), at.expression(self.count)]

    def split(self, at, rows, count):
        """The same elements in runs of `count`."""
        return Run(self.offset, count, rows, count, self.span)

    @staticmethod
    def alike(at, a, b):
        """Both sides of a transfer in runs of the same length."""
        if a.is_one() and not b.is_one():
            a = a.split(at, b.rows, b.count)
        elif b.is_one() and not a.is_one():
            b = b.split(at, a.rows, a.count)
        return a, b


def run_of(at, memory, offsets, extent, span):
    """The region of `extent` at `offsets`. What is known to leave the memory is an error here, the rest when the plan is made."""
    shape = memory.shape
    if len(offsets) != len(shape) or len(extent) != len(shape):
        raise CompileError(f"offsets {offsets} for memory of shape {shape}", span)
    # Past the end of the outermost dimension is past the end of the parameter: the plan cannot be made then.
    whole = memory.offset == 0 and prod(shape) == memory.param.elements
    outermost = next((i for i, size in enumerate(shape) if size != 1), len(shape) - 1)
    for i, (offset, count, size) in enumerate(zip(offsets, extent, shape)):
        require_inside(at, offset, count, size, span, whole and i == outermost)
    place, strides, stride = memory.offset, [], 1
    for size in reversed(shape):
        strides.insert(0, stride)
        stride *= size
    for offset, step in zip(offsets, strides):
        place = at.add(place, at.mul(offset, step))
    last = len(shape) - 1
    count = extent[last]
    # Whole rows continue each other.
    while last > 0 and isinstance(extent[last], int) and extent[last] == shape[last]:
        last -= 1
        count = at.mul(count, extent[last])
    outer = [i for i in range(last) if not (isinstance(extent[i], int) and extent[i] == 1)]
    if not outer:
        return Run(place, count, 1, 0, span)
    if len(outer) > 1:
        refuse("a region with gaps in two dimensions is not supported", span)
    return Run(place, count, extent[outer[0]], strides[outer[0]], span)


def require_inside(at, offset, count, size, span, is_outermost):
    end = at.add(offset, count)
    if isinstance(offset, int) and offset < 0:
        raise CompileError(f"offset {offset} is negative", span)
    if isinstance(end, int):
        if end > size:
            raise CompileError(f"elements {offset}..{end} leave a dimension of {size}", span)
        return
    if is_outermost:
        return
    where = span.at()
    for left, right in ((offset, 0), (size, end)):
        if isinstance(left, int) and isinstance(right, int):
            continue
        operands = [at.expression(left), at.expression(right)]
        at.emit(ir.eval(ir.call("pld.system.require", operands, [("cmp", "ge")], where), where))
