# SPDX-License-Identifier: Apache-2.0
"""The part of docs/compatibility.md that is about `pypto`, from what the code has: `python3 -m pypto._peal.compatibility`."""

import inspect
import sys

from .. import language  # noqa: F401: fills the registry
from .. import runtime
from . import dtypes, emitting, enums, flow, jit, nodes, parser, passes, prepared, registry
from .compiled import IGNORED
from .run_config import ACCEPTED
from .stages import OPS as HOST_OPS

ALL_TO_ALL_V = "pld.tensor.all_to_all_v"
BEGIN, END = "<!-- pypto: begin -->", "<!-- pypto: end -->"


def listed(names):
    return ", ".join(f"`{name}`" for name in names)


def public(thing):
    """The names of a class, an object of one, or a module that are meant for users."""
    names = vars(thing if inspect.isclass(thing) or inspect.ismodule(thing) else type(thing))
    return [name for name, value in sorted(names.items()) if name[0] != "_" and not inspect.ismodule(value)]


def plain(function):
    """A signature with names and defaults only."""
    parts, star = [], False
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        default = p.default
        if default is p.empty or default is ...:
            parts.append(p.name if default is p.empty else f"[{p.name}]")
        else:
            shown = f"{type(default).__name__}.{default.name}" if hasattr(default, "name") else repr(default)
            parts.append(f"{p.name}={shown}")
    return ", ".join(parts)


def ops():
    by_function = {}
    for name, function in registry.OPS.items():
        by_function.setdefault(function, []).append(name)
    lines = ["| op | operands | of it |", "| --- | --- | --- |"]
    for function, names in by_function.items():
        written = ", ".join(f"`{n}`" for n in names)
        lines.append(f"| {written} | `{plain(function)}` | {function.note} |")
    return lines


def text():
    kinds = ", ".join(f"`{d.name}`" for d in dtypes.ALL if d.peal)
    loops = ", ".join(f"`{name}`" for name in flow.LOOPS)
    words = [
        f"`{cls.__name__}` ({', '.join(cls.__members__)})"
        for cls in vars(enums).values()
        if inspect.isclass(cls) and issubclass(cls, enums.NamedEnum) and cls is not enums.NamedEnum
    ]
    statements = sorted(
        name.removeprefix("read_") for name in dir(parser.FunctionParser) if name.startswith("read_") and name[5].isupper()
    )
    host = ", ".join(f"`{nodes.spelled(name)}`" for name in HOST_OPS)
    lines = [
        BEGIN,
        "### Ops",
        "",
        *ops(),
        "",
        "### Words",
        "",
        f"- Element types that memory may have: {kinds}.",
        f"- Loops: {loops}. Statements: {', '.join(statements)}.",
        f"- Enums: {', '.join(words)}.",
        *(f"- Not supported: `{word}`: {reason}." for word, reason in parser.REFUSED.items()),
        f"- Not supported: `{nodes.spelled(ALL_TO_ALL_V)}`: {registry.OPS[ALL_TO_ALL_V].note}.",
        f"- Blocks: {listed(parser.CONTEXTS)}. Functions: {listed(f'pl.jit{w}' for w in ('', *(f'.{n}' for n in public(jit.jit))))}.",
        f"- A prepared one, `DistributedWorker`, has {listed(public(prepared.DistributedWorker))}; a call under way has "
        f"{listed(public(prepared._Call))}.",
        f"- `pypto.runtime` has {listed(public(runtime))}.",
        f"- In a HOST function: {host}, subscripts, and dispatches `self.f(…, device=d)`.",
        f"- Keywords of `ir.compile` that are accepted and ignored: {', '.join(f'`{w}`' for w in sorted(IGNORED))}.",
        f"- Fields of `RunConfig` that are accepted and ignored: {', '.join(f'`{w}`' for w in sorted(ACCEPTED))}.",
        f"- Ops that a kernel may contain once it is read: {', '.join(f'`{w}`' for w in sorted({*emitting.OPS, *emitting.ELEMENTWISE}))}.",
        "",
        "### Passes",
        "",
        "`from pypto.pypto_core import passes`; `passes.NAME()(program)` is a program that prints, reads, compiles and runs like any other.",
        "",
        "| pass | of it |",
        "| --- | --- |",
        *(f"| `{name}` | {note} |" for name, (_, _, note) in passes.PASSES.items()),
        END,
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(text() + "\n")
