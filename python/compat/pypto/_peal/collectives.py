# SPDX-License-Identifier: Apache-2.0
"""Collectives of a body, as Peal's own: their protocols are Peal's recipes."""

from math import prod

from peal._peal import ir

from .arithmetic import CompileError, refuse
from .enums import ReduceOp

REDUCTIONS = {ReduceOp.Sum: "sum", ReduceOp.Max: "max", ReduceOp.Min: "min", ReduceOp.Prod: "prod"}


class Collectives:
    def whole_window(self, expr):
        """All of a window: collectives work on nothing less."""
        memory = self.memory(expr)
        self.require_everybody(memory, expr.span)
        if memory.param.kind != "window" or not memory.is_whole():
            found = f"{prod(memory.shape)} elements of {memory.param.elements}"
            refuse(f"a collective works on a whole window: this view has {found}", expr.span)
        self.source(memory, expr.span)
        self.target(memory, expr.span)
        return memory

    def require_everybody(self, memory, span):
        if memory.param.members is not None:
            refuse("a collective of some of the devices that a dispatch's windows are on is not supported", span)

    def rows(self, memory, span):
        if memory.shape[0] != self.nranks:
            raise CompileError(f"the target has {memory.shape[0]} rows; one for each of {self.nranks} ranks is needed", span)
        return memory.shape[1]

    def signal(self, expr):
        memory = self.memory(expr)
        self.require_everybody(memory, expr.span)
        if prod(memory.shape) < self.nranks:
            raise CompileError(
                f"the signal has {prod(memory.shape)} cells, less than the participating device count, {self.nranks}",
                expr.span,
            )
        return self.cells_of(memory)

    def collective(self, name, operands, attributes, at):
        """Behind it everybody's result is in place, so that peers may read it."""
        self.emit(ir.eval(ir.call(name, operands, attributes, at), at))
        self.meet(operands[1], at)

    def meet(self, cells, at):
        self.emit(ir.eval(ir.call("pld.system.barrier", [cells], [("recipe", "mesh")], at), at))

    def allreduce(self, expr, at):
        target = self.whole_window(expr.args[0])
        mode = expr.kwargs["mode"]
        if mode == "ring" and self.memory(expr.args[1]).shape[1] != self.nranks:
            found = self.memory(expr.args[1]).shape
            raise CompileError(f"the signal of a ring of {self.nranks} ranks is [{2 * (self.nranks - 1)}, {self.nranks}], found {found}", expr.span)
        words = [("op", REDUCTIONS[expr.kwargs["op"]]), ("recipe", mode)]
        cells = self.signal(expr.args[1]) if len(expr.args) > 1 else self.cells_of(None)
        self.collective("pld.tensor.allreduce", [target.var, cells], words, at)
        return target

    def barrier(self, expr, at):
        memory = self.memory(expr.args[0])
        self.meet(self.signal(expr.args[0]), at)
        return memory

    def broadcast(self, expr, at):
        target, root = self.whole_window(expr.args[0]), expr.kwargs["root"]
        if root >= self.nranks:
            raise CompileError(f"root ({root}) must be a valid rank in [0, {self.nranks})", expr.span)
        operands = [target.var, self.signal(expr.args[1]), ir.integer(root)]
        self.collective("pld.tensor.broadcast", operands, [("recipe", "mesh")], at)
        return target

    def reduce_scatter(self, expr, at):
        target = self.whole_window(expr.args[0])
        self.rows(target, expr.span)
        words = [("op", "sum"), ("recipe", "mesh")]
        self.collective("pld.tensor.reduce_scatter", [target.var, self.signal(expr.args[1])], words, at)
        return target

    def allgather(self, expr, at):
        target = self.whole_window(expr.args[1])
        n = self.rows(target, expr.span)
        tile = self.tile(expr.args[0])
        count = self.product(tile.valid)
        if count != n:
            raise CompileError(f"local_data has {count} elements, a row of the target {n}", expr.span)
        place = self.expression(self.mul(ir.rank(), n))
        self.emit(ir.eval(ir.call("tile.store", [tile.var, target.var, place], [], at), at))
        self.collective("pld.tensor.allgather", [target.var, self.signal(expr.args[2])], [("recipe", "mesh")], at)
        return target

    def all_to_all(self, expr, at):
        source, target = self.memory(expr.args[0]), self.whole_window(expr.args[1])
        self.rows(target, expr.span)
        if source.shape != target.shape or source.param is target.param:
            raise CompileError(f"input has shape {source.shape}, target {target.shape}: two windows or tensors of one shape", expr.span)
        self.stored(self.tile(expr.args[0]), target, [0, 0], expr.span)
        self.collective("pld.tensor.all_to_all", [target.var, self.signal(expr.args[2])], [("recipe", "mesh")], at)
        return target

    def all_to_all_v(self, expr, at):
        raise CompileError(
            "all_to_all_v is not supported: how much it moves is read from memory, and a plan is made before any data is known",
            expr.span,
        )
