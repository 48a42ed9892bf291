# SPDX-License-Identifier: Apache-2.0
"""Ops on the own memory and on tiles: `pl.…`."""

from . import dtypes, nodes
from .enums import AtomicType, MemorySpace
from .registry import as_expr, constant, here, index_list, integer, make, member, memory, op, require_room


def valid_of(value):
    """The shape that moves: a tile's valid part, all of a tensor."""
    return value.type.valid_shape if isinstance(value.type, nodes.TileType) else value.type.shape


def loaded(name, source, args, offsets, shape, valid_shape, reads_past):
    rank = len(source.type.shape)
    offsets = index_list(offsets, "offsets", rank)
    shape = index_list(shape, "shape", rank)
    valid = shape if valid_shape is None else index_list(valid_shape, "valid_shape", rank)
    for i, count in enumerate(valid.elements):
        if (constant(count) or 0) < 0:
            raise ValueError(f"valid_shape {i} is provably negative: {constant(count)}")
        if None not in (constant(count), constant(shape.elements[i])) and constant(count) > constant(shape.elements[i]):
            raise ValueError(f"valid_shape {i} exceeds the shape: {constant(count)} of {constant(shape.elements[i])}")
    require_room(reads_past, offsets.elements, valid.elements, source.type.shape)
    kind = nodes.TileType(shape.elements, source.type.dtype, valid.elements)
    return make(name, [source, *args, offsets, shape, valid], None, kind)


@op("pl.load", "pl.tile.load", note="Vec memory; no clamp")
def load(tensor, offsets, shapes, valid_shape=None, target_memory=MemorySpace.Vec, clamp=False):
    memory(tensor, "tensor")
    if target_memory != MemorySpace.Vec or clamp:
        raise ValueError("only target_memory=MemorySpace.Vec without clamp is supported")
    return loaded(
        "tile.load", tensor, [], offsets, shapes, valid_shape, lambda i: f"load reads past the end of dimension {i}"
    )


def last_dims(offsets, extent, rank):
    """A region of fewer dimensions than the memory is in its last ones."""
    return [nodes.ConstInt(1, dtypes.INDEX)] * (rank - len(extent)) + list(extent)


@op("pl.store", "pl.tile.store", note="no `shapes`, not atomic")
def store(tile, offsets, output_tensor, shapes=None, *, atomic=AtomicType.None_):
    memory(output_tensor, "output_tensor")
    if not isinstance(getattr(tile, "type", None), nodes.TileType):
        raise TypeError(f"tile must be a Tile, found {getattr(tile, 'type', type(tile).__name__)}")
    if shapes is not None or member(atomic, AtomicType, "atomic") != AtomicType.None_:
        raise ValueError("shapes= and atomic= of a store are not supported")
    if tile.type.dtype != output_tensor.type.dtype:
        raise TypeError(f"element type of the tile is {tile.type.dtype}, of the tensor {output_tensor.type.dtype}")
    shape = output_tensor.type.shape
    offsets = index_list(offsets, "offsets", len(shape))
    region = last_dims(offsets.elements, valid_of(tile), len(shape))
    require_room(lambda i: f"store writes past the end of dimension {i}", offsets.elements, region, shape)
    return make("tile.store", [tile, offsets, output_tensor], None, output_tensor.type)


@op("pl.read", "pl.tensor.read", note="the value is data: it may be written, not steer control flow")
def read(src, offset):
    memory(src, "src")
    offset = index_list(offset if isinstance(offset, (list, tuple, nodes.MakeTuple)) else [offset], "offset")
    if len(offset.elements) != len(src.type.shape):
        raise ValueError(f"offset rank {len(offset.elements)} does not match the rank of the tensor, {len(src.type.shape)}")
    require_room(lambda i: f"read is past the end of dimension {i}", offset.elements, [1] * 9, src.type.shape)
    return make("tensor.read", [src, offset], None, nodes.ScalarType(src.type.dtype))


@op("pl.write", "pl.tensor.write")
def write(dst, offset, value):
    memory(dst, "dst")
    offset = index_list(offset if isinstance(offset, (list, tuple, nodes.MakeTuple)) else [offset], "offset")
    if len(offset.elements) != len(dst.type.shape):
        raise ValueError(f"offset rank {len(offset.elements)} does not match the rank of the tensor, {len(dst.type.shape)}")
    require_room(lambda i: f"write is past the end of dimension {i}", offset.elements, [1] * 9, dst.type.shape)
    value = as_expr(value)
    if not isinstance(value.type, nodes.ScalarType):
        raise TypeError(f"value must be a scalar, found {value.type}")
    return make("tensor.write", [dst, offset, value])


def elementwise(name, lhs, rhs):
    kinds = (nodes.TileType, nodes.TensorType)
    if not isinstance(getattr(lhs, "type", None), kinds):
        raise TypeError(f"lhs must be a Tile or a Tensor, found {getattr(lhs, 'type', type(lhs).__name__)}")
    rhs = as_expr(rhs)
    is_tile = isinstance(lhs.type, nodes.TileType)
    if isinstance(rhs.type, kinds):
        if is_tile != isinstance(rhs.type, nodes.TileType):
            raise TypeError("a Tile and a Tensor cannot be mixed in one op")
        if lhs.type.dtype != rhs.type.dtype:
            raise TypeError(f"element type of lhs is {lhs.type.dtype}, of rhs {rhs.type.dtype}")
        if str(valid_of(lhs)) != str(valid_of(rhs)):
            raise ValueError(f"lhs and rhs must have the same shape: {lhs.type} and {rhs.type}")
    elif not isinstance(rhs.type, nodes.ScalarType):
        raise TypeError(f"rhs must be a Tile, a Tensor or a scalar, found {rhs.type}")
    kind = lhs.type if is_tile else nodes.TensorType(lhs.type.shape, lhs.type.dtype)
    return make(f"{'tile' if is_tile else 'tensor'}.{name}", [lhs, rhs], None, kind)


@op("pl.add", "pl.tile.add", "pl.tensor.add")
def add(lhs, rhs):
    return elementwise("add", lhs, rhs)


@op("pl.mul", "pl.tile.mul", "pl.tensor.mul")
def mul(lhs, rhs):
    return elementwise("mul", lhs, rhs)


@op("pl.maximum", "pl.tile.maximum", "pl.tensor.maximum")
def maximum(lhs, rhs):
    return elementwise("maximum", lhs, rhs)


@op("pl.minimum", "pl.tile.minimum", "pl.tensor.minimum")
def minimum(lhs, rhs):
    return elementwise("minimum", lhs, rhs)


@op("pl.tile.full", note="a constant")
def full(shape, dtype, value):
    shape = index_list(shape, "shape")
    return make("tile.full", [shape, as_expr(value, dtype)], None, nodes.TileType(shape.elements, dtype))


def scalar_pair(kind, a, b):
    a, b = integer(a, "the first operand"), integer(b, "the second operand")
    return nodes.BINARY[kind](a, b, wider(a.type.dtype, b.type.dtype), here())


def wider(a, b):
    """Of two types that meet in one expression: the wider; INDEX before an integer; a tie keeps the left."""
    if a.is_float() != b.is_float() or dtypes.BOOL in (a, b):
        raise TypeError(f"{a} and {b} do not combine")
    if dtypes.INDEX in (a, b):
        return dtypes.INDEX
    return b if b.get_bit() > a.get_bit() else a


@op("pl.min", note="of scalars")
def minimum_of(a, b):
    return scalar_pair("min", a, b)


@op("pl.max", note="of scalars")
def maximum_of(a, b):
    return scalar_pair("max", a, b)


@op("pl.cast", note="integer scalars")
def cast(input, target_type, mode="round"):
    value = as_expr(input)
    if not isinstance(value.type, nodes.ScalarType) or not value.type.dtype.is_int() or not target_type.is_int():
        raise ValueError("only integer scalars can be cast")
    return nodes.Cast(value, target_type, here())


@op("pl.const")
def const(value, dtype):
    if constant(value) is None and not isinstance(value, float):
        raise TypeError("value must be a number")
    return as_expr(constant(value) if constant(value) is not None else value, dtype)
