# SPDX-License-Identifier: Apache-2.0
"""Element types: names, sizes and codes of the language, and Peal's name for those that it computes with."""

from peal._unsupported import Named


class DataType(Named):
    """An element type. Values are compared and hashed by their code."""

    def __init__(self, name, code, bits, text, peal=None, numpy=None):
        self.name, self.code, self._bits, self._text = name, code, bits, text
        self.peal, self.numpy = peal, numpy

    def get_byte(self):
        return max(1, self._bits // 8)

    def get_bit(self):
        return self._bits

    def to_string(self):
        return self._text

    def is_float(self):
        return self.name.startswith(("FP", "BF", "HF"))

    def is_int(self):
        return self.name.startswith(("INT", "UINT", "INDEX"))

    def __eq__(self, other):
        return isinstance(other, DataType) and self.code == other.code

    def __hash__(self):
        return hash(self.code)

    def __int__(self):
        return self.code

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"DataType.{self.name}"


_ROWS = [
    ("BOOL", 0x00, 8, "bool", None, "bool"),
    ("INT4", 0x10, 4, "int4", None, None),
    ("INT8", 0x11, 8, "int8", "i8", "int8"),
    ("INT16", 0x12, 16, "int16", "i16", "int16"),
    ("INT32", 0x13, 32, "int32", "i32", "int32"),
    ("INT64", 0x14, 64, "int64", "i64", "int64"),
    ("INDEX", 0x15, 64, "index", "i64", "int64"),
    ("UINT4", 0x20, 4, "uint4", None, None),
    ("UINT8", 0x21, 8, "uint8", "u8", "uint8"),
    ("UINT16", 0x22, 16, "uint16", "u16", "uint16"),
    ("UINT32", 0x23, 32, "uint32", "u32", "uint32"),
    ("UINT64", 0x24, 64, "uint64", "u64", "uint64"),
    ("FP4", 0x30, 4, "fp4", None, None),
    ("FP8E4M3FN", 0x31, 8, "fp8e4m3fn", None, None),
    ("FP8E5M2", 0x32, 8, "fp8e5m2", None, None),
    ("FP16", 0x33, 16, "fp16", "f16", "float16"),
    ("FP32", 0x34, 32, "fp32", "f32", "float32"),
    ("FP8E8M0", 0x36, 8, "fp8e8m0", None, None),
    ("BF16", 0x40, 16, "bfloat16", "bf16", None),
]

ALL = [DataType(*row) for row in _ROWS]
for _dtype in ALL:
    setattr(DataType, _dtype.name, _dtype)
    globals()[_dtype.name] = _dtype
