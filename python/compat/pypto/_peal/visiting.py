# SPDX-License-Identifier: Apache-2.0
"""Walking programs, and comparing them."""

import re

from . import nodes
from .liveness import children


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class IRVisitor:
    """Calls `visit_<kind>` for every node: visit_function, visit_for_stmt, visit_call, … . An override that wants to go on below
    calls the method that it replaces."""

    def visit_program(self, program):
        for function in program.functions.values():
            self.visit_function(function)

    def visit_function(self, function):
        if function.body is not None:
            self.visit_stmt(function.body)

    def visit_stmt(self, stmt):
        getattr(self, f"visit_{snake(type(stmt).__name__)}")(stmt)

    def visit_expr(self, expr):
        getattr(self, f"visit_{snake(type(expr).__name__)}", self.visit_below)(expr)

    def visit_below(self, expr):
        for child in children(expr):
            self.visit_expr(child)

    visit_call = visit_var = visit_below

    def visit_dyn_var(self, var):
        self.visit_var(var)

    def visit_iter_arg(self, var):
        self.visit_var(var)

    def visit_seq_stmts(self, stmt):
        for each in stmt.stmts:
            self.visit_stmt(each)

    def visit_assign_stmt(self, stmt):
        self.visit_expr(stmt.var)
        self.visit_expr(stmt.value)

    def visit_eval_stmt(self, stmt):
        self.visit_expr(stmt.expr)

    def visit_return_stmt(self, stmt):
        for value in stmt.value:
            self.visit_expr(value)

    visit_yield_stmt = visit_return_stmt

    def visit_for_stmt(self, stmt):
        for expr in (stmt.start, stmt.stop, stmt.step, *(a.init_value for a in stmt.iter_args)):
            self.visit_expr(expr)
        self.visit_stmt(stmt.body)

    def visit_while_stmt(self, stmt):
        for expr in (*(a.init_value for a in stmt.iter_args), stmt.condition):
            self.visit_expr(expr)
        self.visit_stmt(stmt.body)

    def visit_if_stmt(self, stmt):
        self.visit_expr(stmt.condition)
        self.visit_stmt(stmt.then_body)
        if stmt.else_body is not None:
            self.visit_stmt(stmt.else_body)


def structural_equal(a, b):
    """Equal up to the names of variables."""
    return difference(a, b) is None


def assert_structural_equal(a, b):
    found = difference(a, b)
    if found is not None:
        raise ValueError(f"the two differ: {found}")


def difference(a, b):
    left, right = numbered(a), numbered(b)
    if left == right:
        return None
    for x, y in zip(left.splitlines(), right.splitlines()):
        if x != y:
            return f"{x.strip()} and {y.strip()}"
    return "one has more statements than the other"


def numbered(node):
    """The text of a node with a number for each variable, in the order of their first appearance."""
    names = set()
    functions = list(node.functions.values()) if isinstance(node, nodes.Program) else [node]
    for function in functions:
        if isinstance(function, nodes.Function):
            names |= {p.name_hint for p in function.params}
            finder = _Names()
            finder.visit_function(function)
            names |= finder.names
    order = {}

    def number(match):
        word = match.group(0)
        return f"v{order.setdefault(word, len(order))}" if word in names else word

    return re.sub(r"(?<![\w.])[A-Za-z_]\w*", number, str(node))


class _Names(IRVisitor):
    def __init__(self):
        self.names = set()

    def visit_expr(self, expr):
        if isinstance(expr, nodes.Var) and not isinstance(expr, nodes.DynVar):
            self.names.add(expr.name_hint)
        super().visit_expr(expr)

    def visit_for_stmt(self, stmt):
        self.names |= {v.name_hint for v in (stmt.loop_var, *stmt.iter_args, *stmt.return_vars)}
        super().visit_for_stmt(stmt)


class _Variables(IRVisitor):
    def __init__(self):
        self.found = set()

    def visit_expr(self, expr):
        if isinstance(expr, nodes.Var):
            self.found.add(expr)
        super().visit_expr(expr)

    def visit_for_stmt(self, stmt):
        self.found |= {stmt.loop_var, *stmt.iter_args, *stmt.return_vars}
        super().visit_for_stmt(stmt)


def variables(block):
    """The variables of a block: nodes."""
    finder = _Variables()
    finder.visit_stmt(block)
    return finder.found
