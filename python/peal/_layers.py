# SPDX-License-Identifier: Apache-2.0
"""What the packages under other projects' names (compat/) have in common: PEAL_CHECK, the line that a program ends with,
and what is said of names that are not there."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable

from ._errors import Error

LIST = "docs/compatibility.md"
MODES = ("warn", "error", "off")

_counts = {"proved": 0, "refuted": 0, "undecided": 0, "for this input only": 0}
_told = ""


def check_mode() -> str:
    """What PEAL_CHECK says becomes of a kernel that is not proved: it runs, it does not, or nobody asks."""
    chosen = os.environ.get("PEAL_CHECK", "") or "warn"
    if chosen not in MODES:
        raise Error(f"PEAL_CHECK: expected warn, error or off, found {chosen!r}")
    return chosen


def count(verdict: str, kernels: int = 1) -> None:
    """So many kernels have this verdict: "proved", "refuted", "undecided" or "for this input only"."""
    _counts[verdict] += kernels


def closing_line() -> str:
    """What a program ends with if kernels were looked at; empty if none were, or nothing was since it was told."""
    global _told
    if not any(_counts.values()):
        return ""
    shown = [f"{n} {verdict}" for verdict, n in _counts.items() if n or verdict != "undecided"]
    line = f"peal: kernels: {', '.join(shown)}"
    if line == _told:
        return ""
    _told = line
    return line


@atexit.register
def _tell() -> None:
    line = closing_line()
    if line:
        print(line, file=sys.stderr)


def missing(module: str, raised: type[Exception] = AttributeError) -> Callable[[str], object]:
    """A module's `__getattr__`: says what is missing, and where the list of what is there stands. `raised` is ImportError
    for modules that names are imported from, since `from module import name` hides an AttributeError."""

    def lookup(name: str) -> object:
        words = f"{module}.{name} is not supported by Peal; {LIST} lists what is"
        raise AttributeError(words) if name.startswith("__") else raised(words)

    return lookup
