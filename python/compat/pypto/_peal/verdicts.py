# SPDX-License-Identifier: Apache-2.0
"""Every kernel is proved before it first runs. PEAL_CHECK says what a refuted one means; the run ends with one line."""

import atexit
import os
import sys

import peal
from peal._peal import prove_hosted

MODES = ("warn", "error", "off")
counts = {"proved": 0, "refuted": 0, "not decided": 0}


def mode():
    chosen = os.environ.get("PEAL_CHECK", "") or "warn"
    if chosen not in MODES:
        raise peal.Error(f"PEAL_CHECK: expected one of {', '.join(MODES)}; found {chosen!r}")
    return chosen


class Verdict:
    """What is known of the kernels of one domain: `lines` are those of the user's file that a counterexample is about."""

    def __init__(self, names, proof, filename):
        self.kernels, self.verdict, self.filename = names, proof.verdict, filename
        self.from_store = proof.from_store
        self.refutations = proof.refutations
        self.bound = proof.bound

    @property
    def lines(self):
        return sorted({line for r in self.refutations[:1] for line in r.lines if line})

    def __str__(self):
        title = f"kernel {', '.join(self.kernels)} of {self.filename}"
        if self.verdict == "proved":
            return f"{title}: proved"
        if self.verdict == "bound":
            return f"{title}: not decided: {self.bound}"
        first = self.refutations[0]
        steps = "".join(f"\n  {step}" for step in first.schedule)
        return f"{title}: refuted: {first.kind}: {first.message}{steps}"


def prove(kernels, zeroed, filename):
    """The verdict, or None where nobody wants one."""
    wanted = mode()
    if wanted == "off":
        return None
    names = [k.name for k in kernels]
    verdict = Verdict(names, prove_hosted([k.plans for k in kernels], zeroed), filename)
    if verdict.verdict == "violated":  # told in the user's own steps, where they go wrong too
        plain = Verdict(names, prove_hosted([k.compiled(fuse=False) for k in kernels], zeroed), filename)
        verdict = plain if plain.verdict == "violated" else verdict
    word = {"proved": "proved", "violated": "refuted", "bound": "not decided"}[verdict.verdict]
    counts[word] += len(names)
    if verdict.verdict == "proved":
        return verdict
    if wanted == "error":
        raise peal.Error(str(verdict), "wrong" if verdict.verdict == "violated" else "bound")
    print(f"peal: {verdict}", file=sys.stderr)
    return verdict


def last_line():
    """What every run ends with, where kernels were proved."""
    known = counts["proved"] + counts["refuted"] + counts["not decided"]
    if known == 0:
        return ""
    open_ends = f", {counts['not decided']} not decided" if counts["not decided"] else ""
    return f"peal: kernels: {counts['proved']} proved, {counts['refuted']} refuted{open_ends}, 0 for this input only"


@atexit.register
def _tell():
    line = last_line()
    if line:
        print(line, file=sys.stderr)
