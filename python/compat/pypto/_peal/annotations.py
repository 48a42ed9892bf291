# SPDX-License-Identifier: Apache-2.0
"""What annotations evaluate to: Python runs them when the class is made, and the parser reads them again."""

from . import nodes
from .dtypes import DataType


def shaped(kind, name, item):
    if not isinstance(item, tuple) or len(item) != 2:
        raise TypeError(f"{name}[[d0, ...], dtype] takes a shape and an element type")
    shape, dtype = item
    if not isinstance(shape, (list, tuple)) or not isinstance(dtype, DataType):
        raise TypeError(f"{name}[[d0, ...], dtype] takes a shape and an element type, found {item!r}")
    for dim in shape:
        if isinstance(dim, bool) or not isinstance(dim, (int, nodes.Expr)):
            raise TypeError(f"{name}: a dimension must be an int or a symbol, found {dim!r}")
        if isinstance(dim, int) and dim <= 0:
            raise ValueError(f"{name}: a dimension must be positive, found {dim}")
    return kind(shape, dtype)


class Tensor:
    def __class_getitem__(cls, item):
        return shaped(nodes.TensorType, "pl.Tensor", item)


class DistributedTensor:
    def __class_getitem__(cls, item):
        return shaped(nodes.DistributedTensorType, "pld.DistributedTensor", item)


class Scalar:
    def __class_getitem__(cls, item):
        if not isinstance(item, DataType):
            raise TypeError(f"pl.Scalar[dtype] takes an element type, found {item!r}")
        return nodes.ScalarType(item)


class Out:
    """The direction is read from the text; here it is the type."""

    def __class_getitem__(cls, item):
        return item


class InOut(Out):
    pass
