# SPDX-License-Identifier: Apache-2.0
"""Ops on the own memory and on tiles: `pl.…`."""

from math import prod

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


def last_dims(extent, rank):
    """A region of fewer dimensions than the memory is in its last ones."""
    if any(constant(d) != 1 for d in extent[: max(0, len(extent) - rank)]):
        raise ValueError(f"what has {len(extent)} dimensions does not fit into {rank}")
    return [nodes.ConstInt(1, dtypes.INDEX)] * (rank - len(extent)) + list(extent)[-rank:]


@op("pl.store", "pl.tile.store", note="no `shapes`")
def store(tile, offsets, output_tensor, shapes=None, *, atomic=AtomicType.None_):
    memory(output_tensor, "output_tensor")
    if not isinstance(getattr(tile, "type", None), nodes.TileType):
        raise TypeError(f"tile must be a Tile, found {getattr(tile, 'type', type(tile).__name__)}")
    if shapes is not None:
        raise ValueError("shapes= of a store is not supported: the tile's valid shape is stored")
    offsets = place_in(output_tensor, tile, offsets, "offsets", "store", "tile")
    return make("tile.store", [tile, offsets, output_tensor], addition(atomic, output_tensor), output_tensor.type)


def place_in(target, value, offsets, who, op, what):
    """Where a value goes in a tensor: it has the type, and the room is there."""
    if value.type.dtype != target.type.dtype:
        raise TypeError(f"element type of the {what} is {value.type.dtype}, of the tensor {target.type.dtype}")
    shape = target.type.shape
    offsets = index_list(offsets, who, len(shape))
    region = last_dims(valid_of(value), len(shape))
    require_room(lambda i: f"{op} writes past the end of dimension {i}", offsets.elements, region, shape)
    return offsets


def addition(atomic, target):
    """What is said of adding: that it is possible."""
    if member(atomic, AtomicType, "atomic") == AtomicType.Add and target.type.dtype not in ADDED:
        raise TypeError(f"atomic=Add requires an fp32/bf16/fp16/int32/int16/int8 dtype, found {target.type.dtype}")
    return {"atomic": atomic}


ADDED = (dtypes.FP32, dtypes.BF16, dtypes.FP16, dtypes.INT32, dtypes.INT16, dtypes.INT8)


@op("pl.slice", "pl.tensor.slice", note="a part of a tensor, where it is; no padding or clamp")
def slice(input, shape, offset, valid_shape=None, drop_dims=None, pad_value=None, clamp=False):
    memory(input, "input")
    if valid_shape is not None or pad_value is not None or clamp:
        raise ValueError("valid_shape, pad_value and clamp of a slice are not supported")
    rank = len(input.type.shape)
    shape, offset = index_list(shape, "shape", rank), index_list(offset, "offset", rank)
    dropped = [constant(i) for i in drop_dims or []]
    for i in dropped:
        if i is None or not 0 <= i < rank or constant(shape.elements[i]) != 1:
            raise ValueError(f"drop_dims: dimension {i} is not one of size 1 of {input.type}")
    require_room(lambda i: f"slice is past the end of dimension {i}", offset.elements, shape.elements, input.type.shape)
    left = [size for i, size in enumerate(shape.elements) if i not in dropped]
    return make("tensor.slice", [input, offset, shape], {"drop_dims": dropped}, type(input.type)(left, input.type.dtype))


@op("pl.tile.slice", note="a part of a tile that is one run of its elements")
def tile_slice(tile, shape, offset):
    if not isinstance(getattr(tile, "type", None), nodes.TileType):
        raise TypeError(f"tile must be a Tile, found {getattr(tile, 'type', type(tile).__name__)}")
    rank = len(tile.type.shape)
    shape, offset = index_list(shape, "shape", rank), index_list(offset, "offset", rank)
    require_room(lambda i: f"slice is past the end of dimension {i}", offset.elements, shape.elements, valid_of(tile))
    return make("tile.slice", [tile, shape, offset], None, nodes.TileType(shape.elements, tile.type.dtype))


@op("pl.reshape", "pl.tensor.reshape", note="of tensors: the same elements")
def reshape(input, shape):
    memory(input, "input")
    shape = index_list(shape, "shape")
    sizes = [[constant(d) for d in dims] for dims in (shape.elements, input.type.shape)]
    if all(None not in s for s in sizes) and prod(sizes[0]) != prod(sizes[1]):
        raise ValueError(f"{input.type} does not have the elements of {sizes[0]}")
    return make("tensor.reshape", [input, shape], None, type(input.type)(shape.elements, input.type.dtype))


@op("pl.create_tensor", "pl.tensor.create", note="zeros, or `init_value`; `layout` and `manual_dep` say nothing here")
def create_tensor(shape, dtype, layout=None, manual_dep=False, init_value=None):
    shape = index_list(shape, "shape")
    kwargs = {} if init_value is None else {"init_value": init_value}
    if init_value is not None and (isinstance(init_value, bool) or not isinstance(init_value, (int, float))):
        raise TypeError("init_value must be a number")
    return make("tensor.create", [shape], kwargs, nodes.TensorType(shape.elements, dtype))


@op("pl.tile.create", note="what it holds is not defined")
def create(shape, dtype, target_memory=MemorySpace.Vec):
    shape = index_list(shape, "shape")
    return make("tile.create", [shape], None, nodes.TileType(shape.elements, dtype))


@op("pl.assemble", "pl.tensor.assemble")
def assemble(target, source, offset, *, atomic=AtomicType.None_):
    memory(target, "target")
    if not isinstance(getattr(source, "type", None), (nodes.TileType, nodes.TensorType)):
        raise TypeError(f"source must be a Tile or a Tensor, found {getattr(source, 'type', type(source).__name__)}")
    offset = place_in(target, source, offset, "offset", "assemble", "source")
    return make("tensor.assemble", [target, source, offset], addition(atomic, target), target.type)


@op("pl.read", "pl.tensor.read", "pl.tile.read", note="the value is data: it may be written, not steer control flow")
def read(src, offset):
    is_tile = isinstance(getattr(src, "type", None), nodes.TileType)
    if not is_tile:
        memory(src, "src")
    offset = index_list(offset if isinstance(offset, (list, tuple, nodes.MakeTuple)) else [offset], "offset")
    if len(offset.elements) != len(src.type.shape):
        what = "tile" if is_tile else "tensor"
        raise ValueError(f"offset rank {len(offset.elements)} does not match the rank of the {what}, {len(src.type.shape)}")
    require_room(lambda i: f"read is past the end of dimension {i}", offset.elements, [1] * 9, valid_of(src))
    return make("tile.read" if is_tile else "tensor.read", [src, offset], None, nodes.ScalarType(src.type.dtype))


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


@op("pl.sub", "pl.tile.sub", "pl.tensor.sub")
def sub(lhs, rhs):
    return elementwise("sub", lhs, rhs)


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


@op("pl.cast", note="of integer scalars: to integers, and of numbers that are known to floats")
def cast(input, target_type, mode="round"):
    value = as_expr(input)
    if not isinstance(value.type, nodes.ScalarType) or not value.type.dtype.is_int():
        raise ValueError(f"only integer scalars can be cast, found {value.type}")
    if not isinstance(target_type, dtypes.DataType) or not (target_type.is_int() or target_type.is_float()):
        raise TypeError(f"target_type must be a type of numbers, found {target_type}")
    return nodes.Cast(value, target_type, here())


@op("pl.const")
def const(value, dtype):
    if constant(value) is None and not isinstance(value, float):
        raise TypeError("value must be a number")
    return as_expr(constant(value) if constant(value) is not None else value, dtype)
