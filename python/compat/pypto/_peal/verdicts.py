# SPDX-License-Identifier: Apache-2.0
"""Every kernel is proved before it first runs. PEAL_CHECK says what a refuted one means; the run ends with one line."""

import sys

import peal
from peal import _layers
from peal._peal import prove_hosted
from peal._unsupported import Named


class Verdict(Named):
    """What is known of the kernels of one domain: `lines` are those of the user's file that a counterexample is about, `page` is
    where it is drawn. `meaning` is what was proved of the result; None: nothing but the protocol was, which `is_protocol_only` says."""

    def __init__(self, names, proof, filename, claims=()):
        self.kernels, self.verdict, self.filename = names, proof.verdict, filename
        self.from_store = proof.from_store
        self.refutations, self.page = proof.refutations, proof.page
        self.bound = proof.bound
        self.meaning = str(claims[proof.claim]) if proof.claim >= 0 else None

    @property
    def is_protocol_only(self):
        return self.verdict == "proved" and self.meaning is None

    @property
    def lines(self):
        return sorted({line for r in self.refutations[:1] for line in r.lines if line})

    def __repr__(self):
        return f"<{str(self).partition(chr(10))[0]}>"

    def __str__(self):
        title = f"kernel {', '.join(self.kernels)} of {self.filename}"
        if self.verdict == "proved":
            return f"{title}: proved: no race, no deadlock; {self.meaning or 'of the result nothing is known (protocol only)'}"
        if self.verdict == "bound":
            return f"{title}: not decided: {self.bound}"
        first = self.refutations[0]
        steps = "".join(f"\n  {step}" for step in first.schedule)
        page = f"\n  the counterexample: {self.page}" if self.page else ""
        return f"{title}: refuted: {first.kind}: {first.message}{steps}{page}"


def prove(steps, zeroed, filename):
    """The verdict, or None where nobody wants one. What is no kernel among the steps is the host's own turn."""
    wanted = _layers.check_mode()
    kernels = [s for s in steps if hasattr(s, "plans")]
    plans = [s.plans if s in kernels else [] for s in steps]
    names = [k.name for k in kernels]
    if wanted == "off":
        _layers.count("not checked", len(names))
        return None
    claims = kernels[0].claims if len(steps) == 1 else []
    tried = [claim.operands() for claim in claims]
    verdict = Verdict(names, prove_hosted(plans, zeroed, claims=tried), filename, claims)
    if verdict.verdict == "violated":
        verdict = told(steps, kernels, zeroed, filename)
    word = {"proved": "proved", "violated": "refuted", "bound": "undecided"}[verdict.verdict]
    _layers.count(word, len(names), with_result=verdict.meaning is not None)
    if verdict.verdict == "proved":
        return verdict
    if wanted == "error":
        raise peal.Error(str(verdict), "wrong" if verdict.verdict == "violated" else "bound")
    print(f"peal: {verdict}", file=sys.stderr)
    return verdict


def told(steps, kernels, zeroed, filename):
    """A refutation in the user's own steps, where they go wrong too, with its page."""
    names = [k.name for k in kernels]
    title = f"{', '.join(names)} on {len(kernels[0].devices)} ranks is not proved"
    for fuse in (False, True):
        plans = [s.compiled(fuse=fuse) if s in kernels else [] for s in steps]
        proof = prove_hosted(plans, zeroed, page_title=title)
        if proof.verdict == "violated":
            break
    return Verdict(names, proof, filename)
