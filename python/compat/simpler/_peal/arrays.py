# SPDX-License-Identifier: Apache-2.0
"""Arrays of the host program: tensors of torch, arrays of numpy."""

from ..task_interface import DataType

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
    name = str(array_dtype).removeprefix("torch.")
    if name not in _TORCH:
        raise KeyError(array_dtype)
    return _TORCH[name]


def nbytes_of(array):
    return array.numel() * array.element_size() if is_torch(array) else array.nbytes


def is_contiguous(array):
    return array.is_contiguous() if is_torch(array) else array.flags["C_CONTIGUOUS"]


def is_on_host(array):
    return not is_torch(array) or array.device.type == "cpu"


def is_shared(array):
    """Whether other processes of the original could write to it; arrays of numpy stand in for those that are."""
    return array.is_shared() if is_torch(array) else array.flags["WRITEABLE"]
