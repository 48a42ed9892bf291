# SPDX-License-Identifier: Apache-2.0
"""Ops on windows: `pld.…`."""

from math import prod

from . import dtypes, nodes
from .enums import AtomicType, NotifyOp, ReduceOp, WaitCmp
from .ops_local import addition, last_dims, loaded, valid_of
from .registry import (
    as_expr,
    constant,
    here,
    in_host,
    index_list,
    integer,
    make,
    member,
    memory,
    natural,
    op,
    require_room,
    window as window_operand,
)

INT32 = nodes.ScalarType(dtypes.INT32)

# ---------------------------------------------------------------------------- host


@op("pld.alloc_window_buffer", "pld.tensor.alloc_window_buffer", note="bytes, or a shape and dtype=")
def alloc_window_buffer(size, *, dtype=None):
    if isinstance(size, (list, tuple, nodes.MakeTuple)):
        shape = index_list(size, "shape")
        if dtype is None:
            raise SyntaxError("a shape requires dtype=")
        if not shape.elements:
            raise SyntaxError("shape must be non-empty")
        if any(constant(d) is not None and constant(d) <= 0 for d in shape.elements):
            raise SyntaxError("all dimensions must be positive")
        known = [constant(d) for d in shape.elements if constant(d) is not None]
        size = as_expr(prod(known) * dtype.get_byte())
        for dim in shape.elements:
            if constant(dim) is None:
                size = nodes.BINARY["*"](size, dim, dtypes.INDEX, here())
    elif dtype is not None:
        raise SyntaxError("dtype= is only valid when the first argument is a shape")
    return make("pld.tensor.alloc_window_buffer", [integer(size, "size")], None, nodes.PtrType())


@op("pld.window", "pld.tensor.window")
def window(buf, shape, *, dtype):
    if not isinstance(getattr(buf, "type", None), nodes.PtrType):
        raise TypeError(f"buf must be a Ptr handle of alloc_window_buffer, found {getattr(buf, 'type', type(buf).__name__)}")
    shape = index_list(shape, "shape")
    return make("pld.tensor.window", [buf, shape], {"dtype": dtype}, nodes.DistributedTensorType(shape.elements, dtype))


@op("pld.world_size", "pld.system.world_size")
def world_size():
    return make("pld.system.world_size", [], None, nodes.ScalarType(dtypes.INT64))


# ---------------------------------------------------------------------------- who am I


@op("pld.get_comm_ctx", "pld.system.get_comm_ctx")
def get_comm_ctx(target):
    return make("pld.system.get_comm_ctx", [window_operand(target, "target")], None, nodes.CommCtxType())


def context(value):
    if not isinstance(getattr(value, "type", None), nodes.CommCtxType):
        raise TypeError(f"ctx must be a CommCtx, found {getattr(value, 'type', type(value).__name__)}")
    return value


@op("pld.rank", "pld.system.rank")
def rank(ctx):
    return make("pld.system.rank", [context(ctx)], None, INT32)


@op("pld.nranks", "pld.system.nranks")
def nranks(ctx):
    return make("pld.system.nranks", [context(ctx)], None, INT32)


# ---------------------------------------------------------------------------- signals


def peer_operand(value):
    expr = as_expr(value)
    if not isinstance(expr.type, nodes.ScalarType):
        raise TypeError(f"peer must be a scalar, found {expr.type}")
    return integer(expr, "peer")


def cell_operand(target, offsets):
    offsets = index_list(offsets, "offsets", len(target.type.shape))
    require_room(lambda i: f"offsets leave dimension {i}", offsets.elements, [1] * 9, target.type.shape)
    return offsets


@op("pld.system.notify")
def notify(target, peer, offsets, value, *, op):
    window_operand(target, "target")
    offsets = cell_operand(target, offsets)
    args = [target, peer_operand(peer), offsets, integer(value, "value")]
    return make("pld.system.notify", args, {"op": member(op, NotifyOp, "op")})


@op("pld.system.wait")
def wait(signal, offsets, expected, *, cmp):
    window_operand(signal, "signal")
    offsets = cell_operand(signal, offsets)
    args = [signal, offsets, integer(expected, "expected")]
    return make("pld.system.wait", args, {"cmp": member(cmp, WaitCmp, "cmp")})


# ---------------------------------------------------------------------------- moving data


@op("pld.remote_load", "pld.tile.remote_load")
def remote_load(target, peer, offsets, shape, valid_shape=None):
    window_operand(target, "target")
    return loaded(
        "pld.tile.remote_load",
        target,
        [peer_operand(peer)],
        offsets,
        shape,
        valid_shape,
        lambda i: f"remote_load reads past the end of dimension {i}",
    )


def pushed(name, src, target, peer, offsets, atomic):
    window_operand(target, "target")
    shape = target.type.shape
    if len(shape) < 2:
        raise ValueError(f"target rank must be >= 2, found {len(shape)}")
    region = valid_of(src)
    if len(region) < 2:
        raise ValueError("src must be at least 2-D")
    for i, dim in enumerate(region[:-2]):
        if constant(dim) != 1:
            raise ValueError(f"src leading dimension {i} must be 1, found {dim}")
    region = region[-2:]
    if src.type.dtype != target.type.dtype:
        raise TypeError(f"element type of src is {src.type.dtype}, of target {target.type.dtype}")
    offsets = index_list(offsets, "offsets", len(shape))
    extent = last_dims(region, len(shape))
    require_room(lambda i: f"push exceeds the peer's target region in dimension {i}", offsets.elements, extent, shape)
    return make(name, [src, target, peer_operand(peer), offsets], addition(atomic, target))


@op("pld.tile.remote_store")
def tile_remote_store(src_tile, target, peer, offsets, *, atomic=AtomicType.None_):
    if not isinstance(getattr(src_tile, "type", None), nodes.TileType):
        raise TypeError(f"src_tile must be a Tile, found {getattr(src_tile, 'type', type(src_tile).__name__)}")
    return pushed("pld.tile.remote_store", src_tile, target, peer, offsets, atomic)


@op("pld.tensor.remote_store")
def tensor_remote_store(src, target, peer, offsets, *, atomic=AtomicType.None_):
    memory(src, "src")
    return pushed("pld.tensor.remote_store", src, target, peer, offsets, atomic)


@op("pld.remote_store")
def remote_store(src, target, peer, offsets, *, atomic=AtomicType.None_):
    is_tile = isinstance(getattr(src, "type", None), nodes.TileType)
    chosen = tile_remote_store if is_tile else tensor_remote_store
    return chosen(src, target, peer, offsets, atomic=atomic)


def region_operands(dst, src, dst_offsets, src_offsets, shape):
    """Where on both sides, and how much: all of both, or a region of each."""
    rank = len(dst.type.shape)
    if dst.type.dtype != src.type.dtype:
        raise TypeError(f"element type of dst is {dst.type.dtype}, of src {src.type.dtype}")
    if len(src.type.shape) != rank:
        raise ValueError(f"dst rank {rank} and src rank {len(src.type.shape)} differ")
    given = [x is not None for x in (dst_offsets, src_offsets, shape)]
    if not any(given):
        if str(dst.type.shape) != str(src.type.shape) and None not in map(constant, dst.type.shape + src.type.shape):
            raise ValueError(f"dst and src must have the same shape: {dst.type} and {src.type}")
        zeros = nodes.MakeTuple([as_expr(0)] * rank)
        return zeros, zeros, nodes.MakeTuple(dst.type.shape)
    if not all(given):
        raise ValueError("dst_offsets, src_offsets and shape must be provided together")
    shape = index_list(shape, "shape", rank)
    sides = []
    for name, offsets, side in (("dst", dst_offsets, dst), ("src", src_offsets, src)):
        offsets = index_list(offsets, f"{name}_offsets", rank)
        for i, offset in enumerate(offsets.elements):
            if (constant(offset) or 0) < 0:
                raise ValueError(f"{name}_offsets dimension {i} must be non-negative")
        require_room(
            lambda i, name=name: f"{name} subregion dimension {i} exceeds {name} shape",
            offsets.elements,
            shape.elements,
            side.type.shape,
        )
        sides.append(offsets)
    return (*sides, shape)


def staging(shape, chunk_rows, chunk_cols, pipeline):
    """Chunks size staging memory; here there is none, so that only the rules are left."""
    rows, cols = natural(chunk_rows, "chunk_rows"), natural(chunk_cols, "chunk_cols")
    if pipeline and not (rows > 0 and cols > 0):
        raise ValueError("pipeline=True requires both chunk_rows>0 and chunk_cols>0")
    if constant(shape.elements[-1]) is None and cols == 0:
        raise ValueError("a dynamic innermost transfer dim needs a static chunk_cols")
    if any(constant(d) is None for d in shape.elements[:-1]) and rows == 0:
        raise ValueError("a dynamic leading transfer dim needs a static chunk_rows")
    return {"chunk_rows": rows, "chunk_cols": cols, "pipeline": bool(pipeline)}


@op("pld.tensor.put")
def put(
    dst,
    peer,
    src,
    dst_offsets=None,
    src_offsets=None,
    shape=None,
    *,
    atomic=AtomicType.None_,
    chunk_rows=0,
    chunk_cols=0,
    pipeline=False,
):
    window_operand(dst, "dst")
    memory(src, "src")
    there, own, shape = region_operands(dst, src, dst_offsets, src_offsets, shape)
    kwargs = {**addition(atomic, dst), **staging(shape, chunk_rows, chunk_cols, pipeline)}
    return make("pld.tensor.put", [dst, peer_operand(peer), src, there, own, shape], kwargs)


@op("pld.tensor.get")
def get(
    dst, peer, src, dst_offsets=None, src_offsets=None, shape=None, *, chunk_rows=0, chunk_cols=0, pipeline=False
):
    window_operand(src, "src")
    memory(dst, "dst")
    own, there, shape = region_operands(dst, src, dst_offsets, src_offsets, shape)
    kwargs = staging(shape, chunk_rows, chunk_cols, pipeline)
    return make("pld.tensor.get", [dst, peer_operand(peer), src, own, there, shape], kwargs)


def staged(stage, stage2):
    for who, tile in (("stage", stage), ("stage2", stage2)):
        if tile is not None and not isinstance(getattr(tile, "type", None), nodes.TileType):
            raise TypeError(f"{who} must be a Tile, found {getattr(tile, 'type', type(tile).__name__)}")


@op("pld.tile.put", note="staging tiles are not needed here")
def tile_put(dst, peer, src, stage, stage2=None, dst_offsets=None, src_offsets=None, shape=None, *, atomic=AtomicType.None_):
    staged(stage, stage2)
    window_operand(dst, "dst")
    memory(src, "src")
    there, own, shape = region_operands(dst, src, dst_offsets, src_offsets, shape)
    args = [dst, peer_operand(peer), src, there, own, shape, stage, *([] if stage2 is None else [stage2])]
    return make("pld.tile.put", args, addition(atomic, dst))


@op("pld.tile.get", note="staging tiles are not needed here")
def tile_get(dst, peer, src, stage, stage2=None, dst_offsets=None, src_offsets=None, shape=None):
    staged(stage, stage2)
    window_operand(src, "src")
    memory(dst, "dst")
    own, there, shape = region_operands(dst, src, dst_offsets, src_offsets, shape)
    args = [dst, peer_operand(peer), src, own, there, shape, stage, *([] if stage2 is None else [stage2])]
    return make("pld.tile.get", args)


# ---------------------------------------------------------------------------- collectives


def signal_operand(signal):
    window_operand(signal, "signal")
    if signal.type.dtype != dtypes.INT32:
        raise TypeError(f"signal must have INT32 element type, found {signal.type.dtype}")
    return signal


def column(signal):
    """The signal of a mesh collective in a kernel: one cell for each rank."""
    shape = signal_operand(signal).type.shape
    if in_host() and len(shape) == 1:
        return signal
    if len(shape) != 2:
        raise ValueError(f"signal must be 2D, found {len(shape)} dimensions")
    if not in_host() and constant(shape[1]) not in (None, 1):
        raise ValueError(f"signal shape[1] must be 1, found {constant(shape[1])}")
    return signal


@op("pld.tensor.allreduce", note="in kernels with a signal; in HOST functions also without")
def allreduce(target, signal=..., *, op=ReduceOp.Sum, mode="mesh", core_num=1):
    window_operand(target, "target")
    if not isinstance(op, ReduceOp):
        raise TypeError(f"op must be ReduceOp.Sum, Max, Min, or Prod; found {op!r}")
    if mode not in ("mesh", "ring"):
        raise ValueError(f'mode must be "ring" or "mesh", found {mode!r}')
    if signal is None:
        raise TypeError("signal cannot be None")
    if signal is ... and not in_host():
        raise ValueError("allreduce requires an explicit signal outside host orchestrator")
    if target.type.dtype not in (dtypes.FP16, dtypes.FP32):
        raise TypeError(f"target dtype must be FP16 or FP32, found {target.type.dtype}")
    if natural(core_num, "core_num") != 1 and not in_host():
        raise ValueError("core_num > 1 is supported only in a HOST orchestrator")
    if not 1 <= constant(core_num) <= MOST_CORES:
        raise ValueError(f"core_num must be in 1..{MOST_CORES}, found {constant(core_num)}")
    if mode == "ring":
        ring_operands(target, signal, op, constant(core_num))
    operands = [target]
    if signal is not ...:
        operands.append((ring_matrix if mode == "ring" else column)(signal))
        if mode == "mesh":
            require_lanes(signal, constant(core_num))
    made = make("pld.tensor.allreduce", operands, {"op": op, "mode": mode}, target.type)
    made.cores = constant(core_num)  # that there are so many is seen once the platform is known
    return made


MOST_CORES = 48


def ring_operands(target, signal, op, core_num):
    if core_num > 1:
        raise ValueError('mode="ring" does not support core_num > 1')
    if signal is ...:
        raise ValueError('mode="ring" requires an explicit signal')
    if in_host() and (target.type.dtype != dtypes.FP32 or op != ReduceOp.Sum):
        raise ValueError(f'mode="ring" of a HOST function takes FP32 and ReduceOp.Sum, found {target.type.dtype} and {op.name}')


def require_lanes(signal, core_num):
    """That a signal of the host has a lane for each core."""
    shape = signal.type.shape
    if core_num > 1 and len(shape) == 1:
        raise ValueError(f"a rank-1 signal is valid only when one signal lane is required, found core_num={core_num}")
    if len(shape) == 2 and constant(shape[1]) is not None and constant(shape[1]) < core_num:
        raise ValueError(f"signal shape[1] must be at least the required lane count, {core_num}; found {constant(shape[1])}")


def ring_matrix(signal):
    shape = signal_operand(signal).type.shape
    if len(shape) != 2:
        raise ValueError(f"signal must be 2D, found {len(shape)} dimensions")
    rows, ranks = constant(shape[0]), constant(shape[1])
    if rows is None or ranks is None:
        raise ValueError("ring allreduce needs a signal of static shape [2*(NR-1), NR]")
    if in_host() and rows < 2 * (ranks - 1):
        raise ValueError(f"signal shape[0] must be at least 2*(NR-1) = {2 * (ranks - 1)} for a ring, found {rows}")
    if not in_host() and rows != 2 * (ranks - 1):
        raise ValueError(f"signal shape[0] must be 2*(NR-1) = {2 * (ranks - 1)} for a ring, found {rows}")
    return signal


@op("pld.tensor.barrier", note="in kernels and in HOST functions")
def barrier(signal):
    return make("pld.tensor.barrier", [column(signal)], None, signal.type)


@op("pld.tensor.broadcast", note="in kernels and in HOST functions")
def broadcast(target, signal, *, root):
    window_operand(target, "target")
    root = natural(root, "root")
    return make("pld.tensor.broadcast", [target, column(signal)], {"root": root}, target.type)


def rows_of(target, who):
    if len(target.type.shape) != 2:
        raise ValueError(f"{who} must be 2D, one row for each rank; found {target.type}")
    return target.type.shape


@op("pld.tensor.allgather", note="in kernels and in HOST functions")
def allgather(local_data, target, signal):
    window_operand(target, "target")
    if not isinstance(getattr(local_data, "type", None), (nodes.TensorType, nodes.TileType)):
        raise TypeError("local_data must be a Tensor or a Tile")
    if local_data.type.dtype != target.type.dtype:
        raise TypeError(f"element type of local_data is {local_data.type.dtype}, of target {target.type.dtype}")
    rows_of(target, "target")
    return make("pld.tensor.allgather", [local_data, target, column(signal)], None, target.type)


@op("pld.tensor.reduce_scatter", note="in kernels and in HOST functions")
def reduce_scatter(target, signal, *, op=ReduceOp.Sum):
    window_operand(target, "target")
    if op != ReduceOp.Sum:
        raise ValueError("reduce_scatter supports ReduceOp.Sum only")
    rows_of(target, "target")
    return make("pld.tensor.reduce_scatter", [target, column(signal)], {"op": op}, target.type)


@op("pld.tensor.all_to_all", note="in kernels and in HOST functions")
def all_to_all(input, target, signal):
    memory(input, "input")
    window_operand(target, "target")
    if input is target:
        raise ValueError("input and target must be different")
    if input.type.dtype != target.type.dtype:
        raise TypeError(f"element type of input is {input.type.dtype}, of target {target.type.dtype}")
    rows_of(target, "target")
    return make("pld.tensor.all_to_all", [input, target, column(signal)], None, target.type)


@op("pld.tensor.all_to_all_v", note="read, and refused by `ir.compile`: how much it moves is data")
def all_to_all_v(*operands, **named):
    names = ("input", "target", "signal", "send_counts", "recv_counts")
    for name in named:
        if name not in names:
            raise TypeError(f"all_to_all_v() got an unexpected keyword argument '{name}'")
    given = {**dict(zip(names, operands)), **named}
    if len(operands) + len(named) != 5 or len(given) != 5:
        raise TypeError(f"all_to_all_v requires 5 args ({', '.join(names)}), found {len(operands) + len(named)}")
    input, target, signal, send_counts, recv_counts = (given[name] for name in names)
    memory(input, "input")
    window_operand(target, "target")
    if input.type.dtype != target.type.dtype:
        raise TypeError(f"element type of input is {input.type.dtype}, of target {target.type.dtype}")
    counts_operands(send_counts, recv_counts)
    rows = constant(rows_of(target, "target")[0])
    ranks = constant(column(signal).type.shape[0])
    if None not in (rows, ranks) and (ranks == 0 or rows % ranks != 0):
        raise ValueError(f"the rank count {ranks} must divide target dim 0, found {rows}")
    return make("pld.tensor.all_to_all_v", [input, target, signal, send_counts, recv_counts], None, target.type)


def counts_operands(send_counts, recv_counts):
    (window_operand if in_host() else memory)(send_counts, "send_counts")
    window_operand(recv_counts, "recv_counts")
    for who, counts in (("send_counts", send_counts), ("recv_counts", recv_counts)):
        if counts.type.dtype != dtypes.INT32:
            raise TypeError(f"{who} must have INT32 element type, found {counts.type.dtype}")
    sent, received = send_counts.type.shape, recv_counts.type.shape
    if len(sent) != 1 and [constant(d) for d in sent[1:]] != [1]:
        raise ValueError(f"send_counts must be 1D, or have one column; found {send_counts.type}")
    if len(received) != 2 or constant(received[1]) != 1:
        raise ValueError(f"recv_counts second dimension must be 1, found {recv_counts.type}")
