# SPDX-License-Identifier: Apache-2.0
"""Programs as text that can be read again: `pl.parse_program(str(program))` is an equal program."""

from . import nodes
from .enums import ForKind, FunctionType, ParamDirection

LOOPS = {ForKind.Sequential: "range", ForKind.Parallel: "parallel", ForKind.Unroll: "unroll"}
HEADER = "import pypto.language as pl\nimport pypto.language.distributed as pld\n"


def print_program(program):
    names = {}
    for function in program.functions.values():
        for param in function.params:
            for dim in getattr(param.type, "shape", []):
                collect_symbols(dim, names)
    symbols = "".join(f'{name} = pl.dynamic("{name}")\n' for name in sorted(names))
    body = "\n".join(indent(print_function(f)) for f in program.functions.values())
    return f"{HEADER}{symbols}\n\n@pl.program\nclass {program.name}:\n{body}"


def collect_symbols(expr, names):
    if isinstance(expr, nodes.DynVar):
        names[expr.name_hint] = True
    for side in ("left", "right"):
        if hasattr(expr, side):
            collect_symbols(getattr(expr, side), names)


def indent(text):
    return "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())


def print_function(function):
    if function.func_type == FunctionType.Opaque and function.level is not None:
        options = f"level=pl.Level.{function.level.name}, role=pl.Role.{function.role.name}"
    else:
        options = f"type=pl.FunctionType.{function.func_type.name}"
    params = ["self"]
    for param, direction in zip(function.params, function.param_directions):
        kind = str(param.type)
        if direction != ParamDirection.In:
            kind = f"pl.{direction.name}[{kind}]"
        params.append(f"{param}: {kind}")
    returns = ""
    if len(function.return_types) == 1:
        returns = f" -> {function.return_types[0]}"
    elif function.return_types:
        returns = f" -> tuple[{', '.join(map(str, function.return_types))}]"
    body = print_block(function.body) or "pass"
    return f"@pl.function({options})\ndef {function.name}({', '.join(params)}){returns}:\n{indent(body)}"


def print_block(body):
    return "\n".join(text for s in body.stmts for text in [print_statement(s)] if text) if body else ""


def print_statement(s):
    if isinstance(s, nodes.SeqStmts):
        unpacked = unpacking(s)
        return unpacked or print_block(s)
    if isinstance(s, nodes.AssignStmt):
        return f"{s.var} = {s.value}"
    if isinstance(s, nodes.EvalStmt):
        return str(s.expr)
    if isinstance(s, nodes.ReturnStmt):
        return f"return {', '.join(map(str, s.value))}".rstrip()
    if isinstance(s, nodes.IfStmt):
        text = f"if {s.condition}:\n{indent(print_body(s.then_body, s.return_vars))}"
        return text + (f"else:\n{indent(print_body(s.else_body, s.return_vars))}" if s.else_body else "")
    assert isinstance(s, nodes.ForStmt), type(s).__name__
    bounds = f"{s.start}, {s.stop}, {s.step}"
    target = str(s.loop_var)
    if s.iter_args:
        target += f", ({', '.join(map(str, s.iter_args))},)"
        bounds += f", init_values=({', '.join(str(a.init_value) for a in s.iter_args)},)"
    return f"for {target} in pl.{LOOPS[s.kind]}({bounds}):\n{indent(print_body(s.body, s.return_vars))}"


def print_body(body, names):
    """The body of a loop or branch; what it yields goes to `names`."""
    lines = []
    for s in body.stmts:
        if isinstance(s, nodes.YieldStmt):
            lines.append(f"{', '.join(map(str, names))} = pl.yield_({', '.join(map(str, s.value))})")
        else:
            lines.append(print_statement(s))
    return "\n".join(line for line in lines if line) or "pass"


def unpacking(s):
    """a, b = self.f(…)"""
    items = s.stmts[1:]
    if not items or not all(isinstance(i, nodes.AssignStmt) and isinstance(i.value, nodes.TupleGetItemExpr) for i in items):
        return None
    return f"{', '.join(str(i.var) for i in items)} = {s.stmts[0].value}"
