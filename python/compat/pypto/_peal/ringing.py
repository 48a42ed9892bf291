# SPDX-License-Identifier: Apache-2.0
"""Signals of a body, as nodes of Peal; and signals that are memory, too.

What is read of a signal comes from a window beside its cells, in which every notify leaves the same value before it rings. So
a read that notifies are ordered with finds what the cell holds, and one that they are not ordered with is a race. What is
written is a number: it goes into that window and, by a notify of the rank itself, into the cell.
"""

from peal._peal import ir

from .arithmetic import CompileError, refuse
from .enums import NotifyOp, WaitCmp
from .regions import region_of
from .values import Context


class Ringing:
    def cell(self, memory, expr, span):
        offsets = self.numbers(expr, "an offset")
        return self.expression(region_of(self, memory, offsets, [1] * len(offsets), span).offset)

    def notify(self, expr, at):
        target = self.memory(expr.args[0])
        peer = self.peer(target, expr.args[1])
        value = self.expression(self.whole(expr.args[3], "the value of a notify"))
        word = "set" if expr.kwargs["op"] == NotifyOp.Set else "add"
        self.ring(target, peer, self.cell(target, expr.args[2], expr.span), value, word, expr.span)

    def ring(self, memory, peer, cell, value, word, span):
        at = span.at()
        if memory.param.name in self.mirrored:
            number = ir.call("tile.full", [value, ir.integer(1)], [("element", memory.dtype.peal)], at)
            op = "pld.tile.remote_store" if word == "set" else "pld.tile.remote_add"
            operands = [self.bind("value", number, at), self.values_of(memory.param).var, peer, cell]
            self.emit(ir.eval(ir.call(op, operands, [], at), at))
        operands = [self.cells(memory, span), peer, cell, value]
        self.emit(ir.eval(ir.call("pld.system.notify", operands, [("op", word)], at), at))

    def wait(self, expr, at):
        signal = self.memory(expr.args[0])
        value = self.expression(self.whole(expr.args[2], "the value of a wait"))
        word = "eq" if expr.kwargs["cmp"] == WaitCmp.Eq else "ge"
        operands = [self.cells(signal, expr.span), self.cell(signal, expr.args[1], expr.span), value]
        self.emit(ir.eval(ir.call("pld.system.wait", operands, [("cmp", word)], at), at))

    def context(self, expr, at):
        return Context(self.memory(expr.args[0]).param.members)

    def rank(self, expr, at):
        members = self.value(expr.args[0]).members
        if members is None:
            return ir.rank(at)
        return self.looked_up([members.index(r) if r in members else 0 for r in range(self.nranks)], ir.rank(at))

    def nranks_of(self, expr, at):
        members = self.value(expr.args[0]).members
        return self.nranks if members is None else len(members)

    def peer(self, memory, expr):
        """A rank of a window's domain, as the kernel counts ranks."""
        value, members = self.whole(expr, "the peer"), memory.param.members
        if members is None:
            return self.expression(value)
        if not isinstance(value, int):
            return self.looked_up(members, value)
        if not 0 <= value < len(members):
            raise CompileError(f"there is no rank {value}: the window's domain has {len(members)}", expr.span)
        return self.expression(members[value])

    # ---- cells that are memory

    def source(self, memory, span):
        """The variable of memory that is read as data."""
        memory.param.read_at = memory.param.read_at or span
        if memory.param.name in self.mirrored:
            return self.values_of(memory.param).var
        memory.param.is_used = True
        return memory.var

    def target(self, memory, span):
        """The variable of memory that is written as data."""
        if memory.param.name in self.mirrored:
            refuse(
                f"window buffer '{memory.param.name}' holds signals and gets data here, which is not supported: a rank may "
                "write numbers into its own cells, and notify those of others",
                span,
            )
        memory.param.written_at = memory.param.written_at or span
        memory.param.is_used = True
        return memory.var

    def cells(self, memory, span):
        """The variable of memory whose cells are rung or awaited."""
        memory.param.signal_at = memory.param.signal_at or span
        memory.param.is_used = True
        return memory.var

    def ring_own(self, tile, memory, runs, span):
        """Numbers into the rank's own cells."""
        memory.param.written_at = memory.param.written_at or span
        if tile.number is None or isinstance(tile.number, float):
            self.target(memory, span)
        at, rank = span.at(), ir.rank(span.at())

        def run(count, places):
            cell = ir.variable(self.fresh("cell"), ir.index_type(), at)
            with self.into([]) as body:
                place = self.expression(self.add(places[0], cell))
                self.ring(memory, rank, place, self.expression(tile.number), "set", span)
            self.emit(ir.for_loop(cell, ir.integer(0), self.expression(count), [], body, [], at))

        runs.each(run, at)
