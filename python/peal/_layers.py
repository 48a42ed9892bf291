# SPDX-License-Identifier: Apache-2.0
"""What the packages under other projects' names (compat/) have in common: PEAL_CHECK, and the line that a program ends with."""

from __future__ import annotations

import atexit
import os
import sys

from ._errors import Error

MODES = ("warn", "error", "off")
PLATFORMS = ("a2a3", "a2a3sim", "a5", "a5sim")

_counts = {"proved": 0, "refuted": 0, "undecided": 0, "for this input only": 0, "not checked": 0}
_with_result = 0  # of those that are proved
_told = ""


def checked_platform(platform: object) -> str:
    """The platform, or a ValueError that says which there are."""
    if platform not in PLATFORMS:
        raise ValueError(f"platform: expected {', '.join(PLATFORMS)}, found {platform!r}")
    return str(platform)


def check_mode() -> str:
    """What PEAL_CHECK says becomes of a kernel that is not proved: it runs, it does not, or nobody asks."""
    chosen = os.environ.get("PEAL_CHECK", "") or "warn"
    if chosen not in MODES:
        raise Error(f"PEAL_CHECK: expected warn, error or off, found {chosen!r}")
    return chosen


def count(verdict: str, kernels: int = 1, with_result: bool = False) -> None:
    """So many kernels have this verdict: "proved", "refuted", "undecided", "for this input only" or "not checked". A proof is of
    the protocol; `with_result`: also that a kernel computes what is known to be its result. "For this input only" is a proof of the
    protocol for the scalars and shapes that a kernel was called with: of one that is compiled already nothing else is seen."""
    global _with_result
    _counts[verdict] += kernels
    _with_result += kernels if with_result else 0


def closing_line() -> str:
    """What a program ends with if kernels were looked at; empty if none were, or nothing was since it was told."""
    global _told
    if not any(_counts.values()):
        return ""
    line = f"peal: kernels: {', '.join(_shown())}"
    if line == _told:
        return ""
    _told = line
    return line


def _shown() -> list[str]:
    """A run in which nobody looked says only that."""
    if not any(n for verdict, n in _counts.items() if verdict != "not checked"):
        return [f"{_counts['not checked']} not checked"]
    shown = [f"{n} {verdict}" for verdict, n in _counts.items() if n or verdict not in ("undecided", "not checked")]
    if _counts["proved"]:
        protocol_only = _counts["proved"] - _with_result
        kinds = [f"{_with_result} with its result"] if _with_result else []
        kinds += [f"{protocol_only} protocol only: no race, no deadlock"] if protocol_only else []
        shown[0] += f" ({', '.join(kinds)})"
    return shown


@atexit.register
def _tell() -> None:
    line = closing_line()
    if line:
        print(line, file=sys.stderr)
