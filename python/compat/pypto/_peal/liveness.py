# SPDX-License-Identifier: Apache-2.0
"""Which names a piece of a body reads before it assigns them, and which it assigns."""

from . import nodes


def children(node):
    """The nodes directly below an expression."""
    if isinstance(node, nodes.Call):
        return [*node.args, *node.attrs.values()]
    if isinstance(node, nodes.BinaryExpr):
        return [node.left, node.right]
    if isinstance(node, nodes.UnaryExpr):
        return [node.operand]
    if isinstance(node, nodes.MakeTuple):
        return node.elements
    if isinstance(node, nodes.TupleGetItemExpr):
        return [node.tuple]
    return []


def read(expr):
    if isinstance(expr, nodes.Var):
        return {expr.name_hint}
    return set().union(*(read(child) for child in children(expr))) if children(expr) else set()


def reads(exprs):
    return set().union(*map(read, exprs)) if exprs else set()


def assigned(statements):
    names = set()
    for s in statements:
        if isinstance(s, nodes.SeqStmts):
            names |= assigned(s.stmts)
        elif isinstance(s, nodes.AssignStmt):
            names.add(s.var.name_hint)
        elif isinstance(s, nodes.ForStmt):
            names |= {s.loop_var.name_hint} | {v.name_hint for v in s.return_vars} | assigned(s.body.stmts)
        elif isinstance(s, nodes.IfStmt):
            names |= {v.name_hint for v in s.return_vars} | assigned(s.then_body.stmts)
            names |= assigned(s.else_body.stmts) if s.else_body else set()
    return names


def live_before(statements, after):
    """Names whose values matter before these statements, when `after` are those that matter behind them."""
    live = set(after)
    for s in reversed(statements):
        live = before(s, live)
    return live


def before(s, live):
    if isinstance(s, nodes.SeqStmts):
        return live_before(s.stmts, live)
    if isinstance(s, nodes.AssignStmt):
        return (live - {s.var.name_hint}) | read(s.value)
    if isinstance(s, nodes.EvalStmt):
        return live | read(s.expr)
    if isinstance(s, (nodes.ReturnStmt, nodes.YieldStmt)):
        return live | reads(s.value)
    if isinstance(s, nodes.IfStmt):
        live = live - {v.name_hint for v in s.return_vars}
        other = live_before(s.else_body.stmts, live) if s.else_body else live
        return read(s.condition) | live_before(s.then_body.stmts, live) | other
    assert isinstance(s, nodes.ForStmt)
    live = live - {v.name_hint for v in s.return_vars}
    own = {s.loop_var.name_hint} | {a.name_hint for a in s.iter_args}
    inside = live_before(s.body.stmts, live | live_before(s.body.stmts, live)) - own
    return live | inside | reads([s.start, s.stop, s.step]) | reads([a.init_value for a in s.iter_args])
