# SPDX-License-Identifier: Apache-2.0
"""Arguments of tasks, in the form that Peal's driver takes."""

from ..buffer import ContinuousTensor
from ..task_interface import TaskArgs, TensorArgType
from .elements import element

_WAITS = {TensorArgType.INPUT, TensorArgType.INOUT}
_WRITES = {TensorArgType.OUTPUT, TensorArgType.INOUT, TensorArgType.OUTPUT_EXISTING}


def lowered(args):
    """(tensors, scalars) of a TaskArgs."""
    if not isinstance(args, TaskArgs):
        raise TypeError(f"expected TaskArgs, found {type(args).__name__}")
    _expect_apart(args)
    tensors = [_tensor(tensor, tag) for tensor, tag in zip(args._tensors, args._tags)]
    return tensors, args._scalars


def _tensor(tensor, tag):
    waits, writes = tag in _WAITS, tag in _WRITES
    if isinstance(tensor, ContinuousTensor):
        return (tensor.data, 0, element(tensor.dtype)[0], tensor.shapes, (), waits, writes)
    if tensor._owner.closed:
        raise ValueError("a tensor of a buffer that is closed")
    return (tensor._owner.base, tensor.byte_offset, element(tensor.dtype)[0], tensor.shapes, tensor.strides, waits, writes)


def range_of(tensor):
    """[begin, end) of its bytes, as addresses."""
    size = element(tensor.dtype)[1]
    if isinstance(tensor, ContinuousTensor):
        return tensor.data, tensor.data + tensor.nbytes()
    begin = tensor._owner.base + tensor.byte_offset
    return begin, begin + (sum((n - 1) * s for n, s in zip(tensor.shapes, tensor.strides)) + 1) * size


def _expect_apart(args):
    written = sorted(range_of(t) for t, tag in zip(args._tensors, args._tags) if tag in _WRITES)
    for (_, end), (begin, _) in zip(written, written[1:]):
        if begin < end:
            raise ValueError("two tensors of one task that are written overlap in memory")
