# SPDX-License-Identifier: Apache-2.0
"""Tensors of torch (and arrays of numpy) as arguments of tasks."""

from peal._unsupported import missing as _missing
from simpler._peal import arrays
from simpler.buffer import ContinuousTensor


def torch_dtype_to_datatype(dtype):
    """KeyError if there is none."""
    return arrays.dtype_of(dtype)


def make_tensor_arg(*given):
    """make_tensor_arg(worker, tensor), or make_tensor_arg(tensor) as older drivers have it."""
    if len(given) == 1:
        return make_chip_tensor_arg(given[0])
    worker, tensor = given
    _expect_plain(tensor)
    return worker.make_tensor_arg(tensor, tuple(tensor.shape), _known(tensor))


def make_chip_tensor_arg(tensor):
    """A tensor at its bare address."""
    _expect_plain(tensor)
    made = ContinuousTensor.make(arrays.address_of(tensor), tuple(tensor.shape), _known(tensor))
    made._keep = tensor
    return made


def _known(tensor):
    try:
        return arrays.dtype_of(tensor.dtype)
    except KeyError:
        raise ValueError(f"there is no DataType for {tensor.dtype}") from None


def _expect_plain(tensor):
    if not arrays.is_on_host(tensor):
        raise ValueError("expected a tensor on the CPU")
    if not arrays.is_contiguous(tensor):
        raise ValueError("expected a contiguous tensor")


__getattr__ = _missing(__name__)
