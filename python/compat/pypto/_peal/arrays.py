# SPDX-License-Identifier: Apache-2.0
"""Arguments of a call: arrays of numpy and tensors of torch, whole or a part for each rank."""

import numpy
import peal


def is_torch(value):
    return type(value).__module__.partition(".")[0] == "torch"


def is_array(value):
    return isinstance(value, numpy.ndarray) or (is_torch(value) and hasattr(value, "data_ptr"))


def dtype_name(value):
    return str(value.dtype).removeprefix("torch.")


def require(value, param, where):
    """That an argument is what the parameter says."""
    wanted = param.type.dtype
    if not is_array(value):
        raise TypeError(f"{where}: '{param}' must be a torch tensor or a numpy array, found {type(value).__name__}")
    names = {wanted.numpy} if wanted.numpy else ({"bfloat16"} if is_torch(value) else {"uint16"})
    if dtype_name(value) not in names:
        raise TypeError(f"{where}: '{param}' must have elements of {' or '.join(names)}, found {dtype_name(value)}")
    contiguous = value.is_contiguous() if is_torch(value) else value.flags.c_contiguous
    if not contiguous:
        raise TypeError(f"{where}: '{param}' is not contiguous")
    if not is_torch(value) and not value.flags.writeable:
        raise TypeError(f"{where}: '{param}' is read-only")


def part(value, offset, count, dtype):
    """Elements of an argument, in its own memory."""
    flat = value.reshape(-1)[offset : offset + count]
    is_bits = dtype.numpy is None and not is_torch(value)
    return peal.bits(flat, dtype.peal) if is_bits else flat


def scratch(count, dtype):
    """Memory that nobody asks for."""
    return part(numpy.zeros(count, dtype=dtype.numpy or "uint16"), 0, count, dtype)


def zeros(shape, dtype, like):
    if is_torch(like):
        import torch

        return torch.zeros(shape, dtype=getattr(torch, dtype.numpy or "bfloat16"))
    return numpy.zeros(shape, dtype=dtype.numpy or "uint16")


def filled(shape, dtype, value, like):
    made = zeros(shape, dtype, like)
    if value:
        made[...] = value
    return made
