# SPDX-License-Identifier: Apache-2.0
"""Regions of memory: boxes of elements, with gaps between the rows where the memory is wider."""

from peal._peal import ir

from .arithmetic import CompileError
from .values import dense_strides


class Region:
    """Where a box begins, and how far apart its elements are in each dimension."""

    def __init__(self, offset, strides):
        self.offset, self.strides = offset, strides


def region_of(at, memory, offsets, extent, span):
    """The box of `extent` at `offsets`. What is known to leave the memory is an error here, the rest when the plan is made."""
    shape = memory.shape
    if len(offsets) != len(shape) or len(extent) != len(shape):
        raise CompileError(f"offsets {offsets} for memory of shape {shape}", span)
    # Past the end of the outermost dimension is past the end of the parameter: the plan cannot be made then.
    outermost = next((i for i, size in enumerate(shape) if size != 1), len(shape) - 1)
    for i, (offset, count, size) in enumerate(zip(offsets, extent, shape)):
        require_inside(at, offset, count, size, span, memory.is_whole() and i == outermost)
    place = memory.offset
    for offset, step in zip(offsets, memory.strides):
        place = at.add(place, at.mul(offset, step))
    return Region(place, memory.strides)


def packed(at, extent):
    """A box without gaps, as tiles are."""
    return Region(0, dense_strides(extent, at.mul))


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


class Runs:
    """A box that lies in several regions at once: runs of `count` elements that all of them have in one piece."""

    def __init__(self, at, extent, regions):
        self.at, self.extent, self.regions = at, extent, regions
        self.outer = [i for i, size in enumerate(extent) if not (isinstance(size, int) and size == 1)]
        self.count = 1
        while self.outer and all(alike(r.strides[self.outer[-1]], self.count) for r in regions):
            self.count = at.mul(self.count, extent[self.outer.pop()])

    def is_one(self):
        return not self.outer

    def each(self, one, where):
        """Emits one(count, places) for every run, in loops where there are several."""

        def nest(dims, places):
            if not dims:
                one(self.count, places)
                return
            row = ir.variable(self.at.fresh("row"), ir.index_type(), where)
            further = [self.at.mul(row, r.strides[dims[0]]) for r in self.regions]
            with self.at.into([]) as body:
                nest(dims[1:], [self.at.add(place, by) for place, by in zip(places, further)])
            rows = self.at.expression(self.extent[dims[0]])
            self.at.emit(ir.for_loop(row, ir.integer(0), rows, [], body, [], where))

        nest(self.outer, [r.offset for r in self.regions])


def alike(a, b):
    return a == b if isinstance(a, int) and isinstance(b, int) else a is b
