# SPDX-License-Identifier: Apache-2.0
"""Memory: buffers and tensors in them."""

import ctypes
import itertools
import os

from peal._unsupported import Named as _Named, NamedEnum as _NamedEnum, missing as _missing

from ._peal.elements import DataType as _DataType
from ._peal.elements import element as _element

MAX_TENSOR_DIMS = 5


class AddressSpace(_NamedEnum):
    HOST = 0
    DEVICE = 1


class AccessMode(_NamedEnum):
    READ = 0
    WRITE = 1
    READWRITE = 2


class BackendKind(_NamedEnum):
    FORK_SHM = 0
    POSIX_SHM = 1
    VMM_WINDOW = 2
    REMOTE_SIDECAR = 3
    DEVICE_MALLOC = 4
    FORK_COW = 5


_instance = os.urandom(16)
_numbers = itertools.count(1)


class BufferIdentity(_Named):
    """Which piece of memory it is."""

    def __init__(self):
        self.owner_instance_id, self.buffer_id, self.generation = _instance, next(_numbers), 1


class BufferDescriptor(_Named):
    """What a tensor says of its buffer."""

    def __init__(self, buffer):
        self.address_space, self.backend_kind = buffer.address_space, buffer.backend_kind
        self.access, self.nbytes, self.identity = buffer.access, buffer.nbytes, buffer.identity


class Tensor(_Named):
    """A view of a buffer. Strides are elements."""

    def __init__(self, owner, byte_offset, shapes, strides, dtype):
        self._owner = owner
        self.buffer = BufferDescriptor(owner)
        self.byte_offset, self.shapes, self.strides, self.dtype = byte_offset, shapes, strides, dtype
        self.ndims = len(shapes)

    @staticmethod
    def make(data, shapes, dtype, child_memory=False):
        """A tensor at a bare address."""
        return ContinuousTensor.make(data, shapes, dtype, child_memory)


class ContinuousTensor(_Named):
    """A row-major tensor at a bare address; `child_memory` is memory of a chip."""

    def __init__(self, data, shapes, dtype, child_memory):
        self.data, self.shapes, self.dtype = int(data), _checked_shape(shapes), dtype
        self.child_memory, self.ndims = bool(child_memory), len(self.shapes)
        self._keep = None

    @staticmethod
    def make(data, shapes, dtype, child_memory=False):
        return ContinuousTensor(data, shapes, _DataType(dtype), child_memory)

    def nbytes(self):
        return _count(self.shapes) * _element(self.dtype)[1]


class Buffer(_Named):
    """One piece of memory."""

    def __init__(self, base, nbytes, *, address_space, backend_kind, owner_worker_id=-1, shm=None, keep=None,
                 access=AccessMode.READWRITE, release=None):
        self.base, self.nbytes, self.shm = base, nbytes, shm
        self.address_space, self.backend_kind, self.access = address_space, backend_kind, access
        self.owner_worker_id, self.identity, self.closed = owner_worker_id, BufferIdentity(), False
        self._keep, self._release = keep, release
        self._whole = None  # the tensor that all of it is, if it was allocated as one

    def tensor(self, shapes, dtype, strides=None, byte_offset=0):
        """A view; row-major unless strides are given."""
        if self.closed:
            raise ValueError("the buffer is closed")
        dtype, shapes = _DataType(dtype), _checked_shape(shapes)
        if strides is None:
            strides = _row_major(shapes)
        strides = tuple(int(s) for s in strides)
        if len(strides) != len(shapes) or any(s <= 0 for s in strides):
            raise ValueError(f"expected {len(shapes)} positive strides, found {strides}")
        size = _element(dtype)[1]
        if byte_offset < 0 or byte_offset % size:
            raise ValueError(f"byte_offset {byte_offset} is no multiple of the element size {size}")
        end = byte_offset + (sum((n - 1) * s for n, s in zip(shapes, strides)) + 1) * size
        if end > self.nbytes:
            raise ValueError(f"the tensor ends at byte {end} of a buffer of {self.nbytes}")
        return Tensor(self, byte_offset, shapes, strides, int(dtype))

    def memory(self):
        """The bytes themselves, of host memory."""
        return memoryview((ctypes.c_char * self.nbytes).from_address(self.base)).cast("B")

    def close(self):
        if self.closed:
            return
        self.closed = True
        if self._release:
            self._release(self)
        self._keep = None


def _count(shape):
    count = 1
    for n in shape:
        count *= n
    return count


def _row_major(shape):
    strides, stride = [], 1
    for n in reversed(shape):
        strides.append(stride)
        stride *= n
    return tuple(reversed(strides))


def _checked_shape(shapes):
    shape = (int(shapes),) if isinstance(shapes, int) else tuple(map(int, shapes))
    if not 1 <= len(shape) <= MAX_TENSOR_DIMS:
        raise ValueError(f"expected 1 to {MAX_TENSOR_DIMS} dimensions, found {len(shape)}")
    if min(shape) <= 0:
        raise ValueError(f"expected positive dimensions, found {shape}")
    return shape


__getattr__ = _missing(__name__)
