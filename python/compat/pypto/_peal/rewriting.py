# SPDX-License-Identifier: Apache-2.0
"""Programs made anew from programs: what a pass does not override is copied, and the original stays as it was."""

import copy

from . import nodes
from .visiting import snake


class Rewriter:
    """Override `expr_<kind>` to give another expression, `stmt_<kind>` to give a list of statements."""

    def program(self, program):
        return nodes.Program(program.name, [self.function(f) for f in program.functions.values()], program.span)

    def function(self, function):
        made = copy.copy(function)
        made.params, made.param_directions = list(function.params), list(function.param_directions)
        if function.body is not None:
            made.body = self.block(function.body)
        return made

    # ---- statements

    def block(self, block):
        if block is None:
            return None
        return nodes.SeqStmts([made for s in block.stmts for made in self.stmt(s)], block.span)

    def stmt(self, stmt):
        return getattr(self, f"stmt_{snake(type(stmt).__name__)}")(stmt)

    def stmt_seq_stmts(self, stmt):
        return [self.block(stmt)]

    def stmt_assign_stmt(self, stmt):
        return [nodes.AssignStmt(stmt.var, self.expr(stmt.value), stmt.span)]

    def stmt_eval_stmt(self, stmt):
        return [nodes.EvalStmt(self.expr(stmt.expr), stmt.span)]

    def stmt_return_stmt(self, stmt):
        return [type(stmt)([self.expr(v) for v in stmt.value], stmt.span)]

    stmt_yield_stmt = stmt_return_stmt

    def stmt_for_stmt(self, stmt):
        bounds = [self.expr(e) for e in (stmt.start, stmt.stop, stmt.step)]
        carried = []
        for argument in stmt.iter_args:
            made = copy.copy(argument)
            made.init_value = self.expr(argument.init_value)
            carried.append(made)
        return [nodes.ForStmt(stmt.loop_var, *bounds, carried, self.block(stmt.body), stmt.return_vars, stmt.kind, stmt.span)]

    def stmt_if_stmt(self, stmt):
        condition = self.expr(stmt.condition)
        sides = self.block(stmt.then_body), self.block(stmt.else_body)
        return [nodes.IfStmt(condition, *sides, stmt.return_vars, stmt.span)]

    # ---- expressions

    def expr(self, expr):
        found = getattr(self, f"expr_{snake(type(expr).__name__)}", None)
        if found is not None:
            return found(expr)
        return self.below(expr)

    def below(self, expr):
        """The same node on other operands."""
        made = copy.copy(expr)
        if isinstance(expr, nodes.Call):
            made.args = [self.expr(a) for a in expr.args]
            made.attrs = {k: self.expr(v) for k, v in expr.attrs.items()}
        elif isinstance(expr, nodes.BinaryExpr):
            made.left, made.right = self.expr(expr.left), self.expr(expr.right)
        elif isinstance(expr, nodes.UnaryExpr):
            made.operand = self.expr(expr.operand)
        elif isinstance(expr, nodes.MakeTuple):
            made.elements = [self.expr(e) for e in expr.elements]
        elif isinstance(expr, nodes.TupleGetItemExpr):
            made.tuple = self.expr(expr.tuple)
        else:
            return expr
        return made


def names_of(function):
    """Every name that a function uses."""
    from .visiting import _Names

    found = _Names()
    found.visit_function(function)
    return found.names | {p.name_hint for p in function.params}


class Fresh:
    """Names that a function does not use yet."""

    def __init__(self, taken):
        self.taken = set(taken)

    def __call__(self, hint):
        name, number = hint, 0
        while name in self.taken:
            number += 1
            name = f"{hint}_{number}"
        self.taken.add(name)
        return name
