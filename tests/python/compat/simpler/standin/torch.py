# SPDX-License-Identifier: Apache-2.0
"""As much of torch as drivers of collectives use, over numpy: for machines without it."""

import numpy

float32, int32 = numpy.dtype("f4"), numpy.dtype("i4")


class _Cpu:
    type = "cpu"


class Tensor:
    device = _Cpu()

    def __init__(self, array, is_shared=False):
        self.array, self._is_shared = array, is_shared

    dtype = property(lambda self: self.array.dtype)
    shape = property(lambda self: self.array.shape)

    def share_memory_(self):
        self._is_shared = True
        return self

    def is_shared(self):
        return self._is_shared

    def data_ptr(self):
        return self.array.ctypes.data

    def is_contiguous(self):
        return self.array.flags["C_CONTIGUOUS"]

    def numel(self):
        return self.array.size

    def element_size(self):
        return self.array.itemsize

    def copy_(self, other):
        self.array[...] = other.array
        return self

    def fill_(self, value):
        self.array[...] = value
        return self

    def clone(self):
        return Tensor(self.array.copy())

    def reshape(self, *shape):
        return Tensor(self.array.reshape(*shape), self._is_shared)

    def abs(self):
        return Tensor(numpy.abs(self.array))

    __abs__ = abs

    def double(self):
        return Tensor(self.array.astype("f8"))

    def max(self):
        return Tensor(self.array.max())

    def item(self):
        return self.array.item()

    def __sub__(self, other):
        return Tensor(self.array - other.array)

    def __getitem__(self, i):
        return Tensor(self.array[i], self._is_shared)

    def __float__(self):
        return float(self.array)


def tensor(values, dtype=float32):
    return Tensor(numpy.array(values, dtype=dtype))


def zeros(*shape, dtype=float32):
    return Tensor(numpy.zeros(shape[0] if len(shape) == 1 else shape, dtype=dtype))


def frombuffer(memory, dtype=float32, count=-1):
    return Tensor(numpy.frombuffer(memory, dtype=dtype, count=count), True)


def allclose(a, b, rtol=1e-5, atol=1e-8):
    return bool(numpy.allclose(a.array, b.array, rtol=rtol, atol=atol))
