# SPDX-License-Identifier: Apache-2.0
"""Arrays of the host program: tensors of torch, arrays of numpy."""

import ctypes
import sys

from .elements import DataType

_TORCH = {
    "float32": DataType.FLOAT32,
    "float16": DataType.FLOAT16,
    "int32": DataType.INT32,
    "int16": DataType.INT16,
    "int8": DataType.INT8,
    "uint8": DataType.UINT8,
    "bfloat16": DataType.BFLOAT16,
    "int64": DataType.INT64,
    "uint64": DataType.UINT64,
    "uint16": DataType.UINT16,
    "uint32": DataType.UINT32,
}
_known = {}  # dtypes that were asked for: their names take long to make


def is_torch(array):
    return hasattr(array, "data_ptr")


def address_of(array):
    if is_torch(array):
        return array.data_ptr()
    if hasattr(array, "__array_interface__"):
        return array.__array_interface__["data"][0]
    raise TypeError(f"expected a tensor of torch or an array of numpy, found {type(array).__name__}")


def dtype_of(array_dtype):
    """The DataType of a dtype of torch or numpy; KeyError if there is none."""
    if array_dtype not in _known:
        name = str(array_dtype).removeprefix("torch.")
        if name not in _TORCH:
            raise KeyError(array_dtype)
        _known[array_dtype] = _TORCH[name]
    return _known[array_dtype]


def nbytes_of(array):
    return array.numel() * array.element_size() if is_torch(array) else array.nbytes


def range_of(memory):
    """(address, bytes) of an array, or of anything that lends its memory and lets it be written."""
    if is_torch(memory) or hasattr(memory, "__array_interface__"):
        if not is_contiguous(memory):
            raise ValueError("expected a contiguous tensor")
        return address_of(memory), nbytes_of(memory)
    view = memoryview(memory)
    if view.readonly:
        raise TypeError("expected memory that can be written")
    if not view.c_contiguous:
        raise ValueError("expected contiguous memory")
    return ctypes.addressof(ctypes.c_char.from_buffer(view)), view.nbytes


def is_contiguous(array):
    return array.is_contiguous() if is_torch(array) else array.flags["C_CONTIGUOUS"]


def is_on_host(array):
    return not is_torch(array) or array.device.type == "cpu"


def is_shared(array):
    """Whether other processes of the original could write to it; arrays of numpy stand in for those that are."""
    return array.is_shared() if is_torch(array) else array.flags["WRITEABLE"]


def copy_of(array):
    return array.clone() if is_torch(array) else array.copy()


def assign(to, array):
    """The elements of one to those of another of its shape."""
    if is_torch(to):
        to.copy_(array)
    else:
        to[...] = array


def view_of(memory, like):
    """This memory as an array of the same kind, shape and type as another."""
    made_by = sys.modules["torch"] if is_torch(like) else sys.modules["numpy"]
    return made_by.frombuffer(memory, dtype=like.dtype, count=_count(like)).reshape(tuple(like.shape))


def _count(array):
    return array.numel() if is_torch(array) else array.size


def all_close(array, other, rtol, atol):
    made_by = sys.modules["torch"] if is_torch(array) else sys.modules["numpy"]
    return bool(made_by.allclose(array, other, rtol=rtol, atol=atol))


def difference(array, other):
    """The largest one, in words."""
    one, two = (each.double() if is_torch(each) else each.astype("f8") for each in (array, other))
    return f"the largest difference is {float(abs(one - two).max())}"
