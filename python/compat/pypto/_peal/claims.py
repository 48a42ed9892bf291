# SPDX-License-Identifier: Apache-2.0
"""What a kernel may be computing: collectives that fit its sizes and its arithmetic, to be tried by the checker. A claim that
holds is proved like the rest; if none does, nothing is said of the result."""

from . import nodes
from .collectives import REDUCTIONS
from .enums import AtomicType
from .visiting import IRVisitor

WORDS = {"add": "sum", "mul": "prod", "maximum": "max", "minimum": "min"}
MOST_ROOTS = 8  # of a broadcast that are tried
ALONE = None  # of one rank, whatever it does together with itself


class Claim:
    def __init__(self, kind, op, root, source, result):
        self.kind, self.op, self.root, self.source, self.result = kind, op, root, source, result

    def operands(self):
        return (self.kind or "broadcast", self.op or "sum", self.root or 0, self.source, self.result)

    def __str__(self):
        if self.kind is ALONE:
            return f"{self.result} is {self.source}"
        of = ", ".join(w for w in (self.op, f"root {self.root}" if self.root is not None else None) if w)
        return f"{self.result} is the {self.kind}{f' ({of})' if of else ''} of {self.source}"


class _Arithmetic(IRVisitor):
    """The reductions that a program's kernels may be doing, and the roots of its broadcasts."""

    def __init__(self):
        self.words, self.roots = set(), []

    def visit_call(self, call):
        space, _, name = call.op.name.rpartition(".")
        if space in ("tile", "tensor") and name in WORDS and not isinstance(call.args[1].type, nodes.ScalarType):
            self.words.add(WORDS[name])
        if call.kwargs.get("atomic") == AtomicType.Add:
            self.words.add("sum")
        if call.kwargs.get("op") in REDUCTIONS and space == "pld.tensor":
            self.words.add(REDUCTIONS[call.kwargs["op"]])
        if call.op.name == "pld.tensor.broadcast":
            self.roots.append(call.kwargs["root"])
        super().visit_call(call)


def claims_of(program, params, nranks):
    """Of one kernel with these parameters. One input is a must: of several nobody knows which."""
    tensors = [p for p in params if p.kind == "tensor" and all(s is not None for s in p.source)]
    sources = [p.name for p in tensors if p.direction == "in"]
    results = [p.name for p in tensors if p.direction != "in"]
    if len(sources) != 1:
        return []
    found = _Arithmetic()
    found.visit_program(program)
    return [
        Claim(kind, op, root, sources[0], result)
        for result in results
        for kind, op, root in forms(found.words, found.roots, nranks)
    ]


def forms(words, roots, nranks):
    if nranks == 1:
        return [(ALONE, None, None)]
    if len(words) == 1:
        [word] = words
        return [("allreduce", word, None), ("reduce_scatter", word, None), ("reduce", word, 0)]
    if words:
        return []
    tried = list(dict.fromkeys([*roots, *range(min(nranks, MOST_ROOTS))]))
    broadcasts = [("broadcast", None, root) for root in tried if root < nranks]
    others = [("allgather", None, None), ("all_to_all", None, None)]
    return broadcasts + others if roots else others + broadcasts
