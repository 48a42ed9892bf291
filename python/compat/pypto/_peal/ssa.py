# SPDX-License-Identifier: Apache-2.0
"""Every name is given once: what a loop changes is carried by it, what a branch changes is merged behind it. And loops over known
numbers, round by round."""

import copy

from . import nodes
from .enums import ForKind
from .flow import ends
from .liveness import assigned, live_before
from .rewriting import Fresh, Rewriter


class ConvertToSSA(Rewriter):
    def function(self, function):
        self.current = {p.name_hint: p for p in function.params}
        self.fresh = Fresh(self.current)
        self.after = set()
        return super().function(function)

    def block(self, block):
        if block is None:
            return None
        made, outer = [], self.after
        for i, stmt in enumerate(block.stmts):
            self.after = live_before(block.stmts[i + 1 :], outer)
            made.extend(self.stmt(stmt))
        self.after = outer
        return nodes.SeqStmts(made, block.span)

    def expr_var(self, var):
        return self.current.get(var.name_hint, var)

    expr_iter_arg = expr_var

    def given(self, var, name=None):
        """The one that a name is from here on."""
        made = copy.copy(var)
        made.name_hint = self.fresh(var.name_hint)
        self.current[name or var.name_hint] = made
        return made

    def stmt_assign_stmt(self, stmt):
        value = self.expr(stmt.value)
        return [nodes.AssignStmt(self.given(stmt.var), value, stmt.span)]

    def yields(self, block, names, explicit):
        """The block, ending with what it yields: what it did already, and these names."""
        stmts = [s for s in block.stmts if not isinstance(s, nodes.YieldStmt)]
        values = [*explicit, *(self.current[n] for n in names)]
        return nodes.SeqStmts([*stmts, nodes.YieldStmt(values, block.span)] if values else stmts, block.span)

    def stmt_for_stmt(self, stmt):
        bounds = [self.expr(e) for e in (stmt.start, stmt.stop, stmt.step)]
        own = {stmt.loop_var.name_hint} | {v.name_hint for v in (*stmt.iter_args, *stmt.return_vars)}
        matters = self.after | live_before(stmt.body.stmts, self.after)
        names = sorted((assigned(stmt.body.stmts) - own) & matters & set(self.current))
        carried, before = [], dict(self.current)
        inits = [self.expr(a.init_value) for a in stmt.iter_args] + [before[n] for n in names]
        hints = [a.name_hint for a in stmt.iter_args] + names
        for hint, init in zip(hints, inits):
            carried.append(nodes.IterArg(self.fresh(hint), init.type, init, stmt.span))
            carried[-1].alias = getattr(init, "alias", None)
            self.current[hint] = carried[-1]
        counter = self.given(stmt.loop_var)
        outer, self.after = self.after, matters
        body = self.block(stmt.body)
        self.after = outer
        explicit = [v for s in body.stmts if isinstance(s, nodes.YieldStmt) for v in s.value]
        body = self.yields(body, names, explicit)
        results = [self.given(v) for v in stmt.return_vars]
        for name, argument in zip(names, carried[len(stmt.iter_args) :]):
            kept = nodes.Var(name, argument.type, stmt.span)
            kept.alias = argument.alias
            results.append(self.given(kept))
        for name in set(self.current) - set(before) - {v.name_hint for v in stmt.return_vars}:
            del self.current[name]
        return [nodes.ForStmt(counter, *bounds, carried, body, results, stmt.kind, stmt.span)]

    def stmt_if_stmt(self, stmt):
        condition, before = self.expr(stmt.condition), dict(self.current)
        changed = assigned([stmt]) - {v.name_hint for v in stmt.return_vars}
        names = sorted(n for n in changed & self.after if n in before or n in both(stmt))
        blocks = (stmt.then_body, stmt.else_body or nodes.SeqStmts([], stmt.span))
        if any(ends(b) for b in blocks):  # the side that goes on has the say
            names = []
        sides, left = [], before
        for block in blocks:
            self.current = dict(before)
            made = self.block(block)
            explicit = [v for s in made.stmts if isinstance(s, nodes.YieldStmt) for v in s.value]
            sides.append(self.yields(made, names, explicit))
            if any(ends(b) for b in blocks) and not ends(block):
                left = self.current
        self.current = dict(left)
        results = [self.given(v) for v in stmt.return_vars]
        if names:
            merged = sides[0].stmts[-1].value[len(stmt.return_vars) :]
            results += [self.given(nodes.Var(n, value.type, stmt.span)) for n, value in zip(names, merged)]
        then, other = sides
        return [nodes.IfStmt(condition, then, other if other.stmts else None, results, stmt.span)]


def both(stmt):
    """What both sides of a condition give."""
    return assigned(stmt.then_body.stmts) & (assigned(stmt.else_body.stmts) if stmt.else_body else set())


class UnrollLoops(Rewriter):
    def __init__(self):
        self.rounds = {}

    def expr_var(self, var):
        return self.rounds.get(var.name_hint, var)

    def stmt_for_stmt(self, stmt):
        if stmt.kind != ForKind.Unroll:
            return super().stmt_for_stmt(stmt)
        made, name = [], stmt.loop_var.name_hint
        outer = self.rounds.get(name)
        for value in range(stmt.start.value, stmt.stop.value, stmt.step.value):
            self.rounds[name] = nodes.ConstInt(value, stmt.loop_var.type.dtype, stmt.span)
            made.extend(self.block(stmt.body).stmts)
        self.rounds.pop(name, None)
        if outer is not None:
            self.rounds[name] = outer
        return made
