# SPDX-License-Identifier: Apache-2.0
"""Types of elements."""

from peal._unsupported import NamedEnum


class DataType(NamedEnum):
    FLOAT32 = 0
    FLOAT16 = 1
    INT32 = 2
    INT16 = 3
    INT8 = 4
    UINT8 = 5
    BFLOAT16 = 6
    INT64 = 7
    UINT64 = 8
    UINT16 = 9
    UINT32 = 10
    FP8E4M3FN = 12
    FP8E8M0 = 13
    FP4E2M1 = 14


# Element types of Peal, and their bytes; what is not here no kernel can use.
_ELEMENTS = {
    DataType.FLOAT32: ("f32", 4),
    DataType.FLOAT16: ("f16", 2),
    DataType.INT32: ("i32", 4),
    DataType.INT16: ("i16", 2),
    DataType.INT8: ("i8", 1),
    DataType.UINT8: ("u8", 1),
    DataType.BFLOAT16: ("bf16", 2),
    DataType.INT64: ("i64", 8),
    DataType.UINT64: ("u64", 8),
    DataType.UINT16: ("u16", 2),
    DataType.UINT32: ("u32", 4),
}


def element(dtype):
    """(name, bytes) of a DataType or its number."""
    found = _ELEMENTS.get(dtype)
    if found is None:
        raise ValueError(f"DataType.{DataType(dtype).name} is not supported by Peal: it has no element type for it")
    return found
