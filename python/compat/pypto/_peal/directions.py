# SPDX-License-Identifier: Apache-2.0
"""Tensor ops of kernels as tile ops; and what parameters are for, from what is done with them."""

import copy

from . import dtypes, nodes, ops_distributed, ops_local, registry
from .enums import AtomicType, NotifyOp, ParamDirection
from .rewriting import Fresh, Rewriter, names_of
from .visiting import IRVisitor

# By op: the operands whose memory is read, and those whose memory is written.
EFFECTS = {
    "tile.load": ([0], []),
    "tile.store": ([], [2]),
    "tensor.read": ([0], []),
    "tensor.write": ([], [0]),
    "tensor.assemble": ([1], [0]),
    "pld.tile.remote_load": ([0], []),
    "pld.tile.remote_store": ([], [1]),
    "pld.tensor.remote_store": ([0], [1]),
    "pld.tensor.put": ([2], [0]),
    "pld.tensor.get": ([2], [0]),
    "pld.tile.put": ([2], [0]),
    "pld.tile.get": ([2], [0]),
    "pld.system.wait": ([0], []),
    "pld.system.notify": ([], [0]),
    "pld.tensor.allreduce": ([0, 1], [0, 1]),
    "pld.tensor.barrier": ([0], [0]),
    "pld.tensor.broadcast": ([0, 1], [0, 1]),
    "pld.tensor.reduce_scatter": ([0, 1], [0, 1]),
    "pld.tensor.allgather": ([0, 1, 2], [1, 2]),
    "pld.tensor.all_to_all": ([0, 1, 2], [1, 2]),
}


class Uses(IRVisitor):
    """Which parameters of a function are read and written: places."""

    def __init__(self, directions):
        self.directions, self.read, self.written = directions, set(), set()

    def visit_call(self, call):
        super().visit_call(call)
        name = call.op.name
        if isinstance(call.op, nodes.GlobalVar):
            for arg, direction in zip(call.args, self.directions.get(name, [])):
                self.note(arg, direction != ParamDirection.Out, direction != ParamDirection.In)
            return
        if name.startswith("tensor.") and name.split(".")[1] in ("add", "sub", "mul", "maximum", "minimum"):
            for arg in call.args:
                self.note(arg, True, False)
            return
        reads, writes = EFFECTS.get(name, ([], []))
        adds = call.kwargs.get("atomic") == AtomicType.Add or call.kwargs.get("op") is NotifyOp.AtomicAdd
        for i, arg in enumerate(call.args):
            self.note(arg, i in reads or (adds and i in writes), i in writes)

    def note(self, arg, reads, writes):
        place = registry.alias_of(arg)
        if place is not None:
            self.read |= {place} if reads else set()
            self.written |= {place} if writes else set()


def inferred(program):
    """Directions by function: what is said to be In and is written is Out, or InOut if it is read, too."""
    found = {}
    for function in program.functions.values():
        if function.body is None:
            continue
        uses = Uses(found)
        uses.visit_function(function)
        directions = []
        for i, direction in enumerate(function.param_directions):
            if direction == ParamDirection.In and i in uses.written:
                direction = ParamDirection.InOut if i in uses.read else ParamDirection.Out
            directions.append(direction)
        found[function.name] = directions
    return found


class ConvertTensorToTileOps(Rewriter):
    def program(self, program):
        made = super().program(program)
        directions = inferred(made)
        for function in made.functions.values():
            if not function.is_host():
                function.param_directions = directions.get(function.name, function.param_directions)
        return made

    def function(self, function):
        if function.is_host() or function.body is None:
            return function
        self.tiles = {}  # what was a computed tensor, by name
        self.fresh = Fresh(names_of(function))
        return super().function(function)

    def expr_var(self, var):
        return self.tiles.get(var.name_hint, var)

    def stmt_assign_stmt(self, stmt):
        value = self.expr(stmt.value)
        var = stmt.var
        if isinstance(value.type, nodes.TileType) and not isinstance(var.type, nodes.TileType):
            var = copy.copy(var)
            var.type = value.type
            self.tiles[var.name_hint] = var
        return [nodes.AssignStmt(var, value, stmt.span)]

    def stmt_eval_stmt(self, stmt):
        call = self.expr(stmt.expr)
        if call.op.name not in ("pld.tensor.put", "pld.tensor.get"):
            return [nodes.EvalStmt(call, stmt.span)]
        shape = call.args[5].elements
        rows, cols = call.kwargs["chunk_rows"] or shape[-2 if len(shape) > 1 else -1], call.kwargs["chunk_cols"] or shape[-1]
        made = []
        with registry.at(stmt.span):
            for _ in range(2 if call.kwargs["pipeline"] else 1):
                stage = ops_local.create([rows, cols] if len(shape) > 1 else [1, cols], call.args[0].type.dtype)
                var = nodes.Var(self.fresh("stage"), stage.type, stmt.span)
                made.append(nodes.AssignStmt(var, stage, stmt.span))
            dst, peer, src, to, source, region = call.args
            stages = [s.var for s in made]
            kwargs = {"atomic": call.kwargs["atomic"]} if "atomic" in call.kwargs else {}
            move = ops_distributed.tile_put if call.op.name.endswith(".put") else ops_distributed.tile_get
            moved = move(dst, peer, src, *stages, dst_offsets=to, src_offsets=source, shape=region, **kwargs)
            made.append(nodes.EvalStmt(moved, stmt.span))
        return made

    def tile(self, value):
        if isinstance(value.type, nodes.TensorType):
            zeros = [nodes.ConstInt(0, dtypes.INDEX)] * len(value.type.shape)
            return ops_local.load(value, zeros, value.type.shape)
        return value

    def expr_call(self, call):
        made = self.below(call)
        space, _, name = made.op.name.rpartition(".")
        with registry.at(call.span):
            if space == "tensor" and name in ("add", "sub", "mul", "maximum", "minimum"):
                return ops_local.elementwise(name, *map(self.tile, made.args))
            if made.op.name == "pld.tensor.remote_store":
                src, *rest = made.args
                return ops_distributed.tile_remote_store(self.tile(src), *rest, atomic=made.kwargs["atomic"])
        return made
