# SPDX-License-Identifier: Apache-2.0
"""Memory that a worker gives out: of one device, or a row for each. Devices are threads here, so it is memory of the process."""

import ctypes

import numpy

from peal._unsupported import Named

from . import arrays


class DeviceTensor(Named):
    """A tensor of one device."""

    def __init__(self, owner, array, worker_id):
        self._owner, self.array, self.worker_id = owner, array, worker_id

    shape = property(lambda self: tuple(self.array.shape))
    dtype = property(lambda self: self.array.dtype)


class StackedDeviceTensor(Named):
    """A row of a tensor on each of several devices; it is passed where all rows are."""

    def __init__(self, owner, array, worker_ids):
        self._owner, self.array, self.worker_ids = owner, array, worker_ids

    shape = property(lambda self: tuple(self.array.shape))
    dtype = property(lambda self: self.array.dtype)


def plain(value):
    """What a kernel is given for an argument."""
    return value.array if isinstance(value, (DeviceTensor, StackedDeviceTensor)) else value


def of_device(value):
    return isinstance(value, (DeviceTensor, StackedDeviceTensor))


def like(array):
    """Memory of the same kind and content."""
    return array.clone() if arrays.is_torch(array) else array.copy()


class Memory:
    """What a worker has given out and not got back. `_next_alloc_id` counts the windows that stay."""

    def __init__(self, worker_ids):
        self.worker_ids, self.tensors, self.blocks = worker_ids, [], {}
        self._next_alloc_id = 0

    def require(self, worker_id):
        if worker_id not in range(len(self.worker_ids)):
            raise ValueError(f"worker_id: there is no device {worker_id}; the worker has {len(self.worker_ids)}")

    def tensor(self, owner, shape, dtype, init, worker_id):
        self.require(worker_id)
        if init is not None:
            if tuple(init.shape) != tuple(shape):
                raise ValueError(f"init has the shape {tuple(init.shape)}, the tensor {tuple(shape)}")
            array = like(init)
        else:
            array = empty(shape, dtype)
        self.tensors.append(DeviceTensor(owner, array, worker_id))
        return self.tensors[-1]

    def stacked(self, owner, host, worker_ids):
        ids = list(range(len(self.worker_ids))) if worker_ids is None else list(worker_ids)
        for worker_id in ids:
            self.require(worker_id)
        if len(host) != len(ids):
            raise ValueError(f"a stacked tensor has a row for each device: {len(ids)} devices, {len(host)} rows")
        self.tensors.append(StackedDeviceTensor(owner, like(host), ids))
        return self.tensors[-1]

    def free(self, tensor):
        if tensor not in self.tensors:
            raise ValueError("this tensor is not one of the worker's, or was freed before")
        self.tensors.remove(tensor)

    # ---- by address

    def malloc(self, nbytes, worker_id):
        self.require(worker_id)
        if nbytes <= 0:
            raise ValueError(f"malloc: expected a positive number of bytes, found {nbytes}")
        block = ctypes.create_string_buffer(nbytes)
        self.blocks[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def release(self, address):
        if self.blocks.pop(address, None) is None:
            raise ValueError(f"free: {address:#x} is not memory of this worker")

    def copy(self, to, source, nbytes, worker_id):
        self.require(worker_id)
        ctypes.memmove(to, source, nbytes)

    def clear(self):
        self.tensors.clear()
        self.blocks.clear()


def empty(shape, dtype):
    if str(dtype).startswith("torch."):
        import torch

        return torch.zeros(tuple(shape), dtype=dtype)
    return numpy.zeros(tuple(shape), dtype=dtype)
