# SPDX-License-Identifier: Apache-2.0
"""The exceptions of Peal. The module `_peal` raises them."""

from __future__ import annotations


class Error(Exception):
    """Something went wrong; the message has the whole story.

    `fault` says what kind of thing it was:

    - "usage": the caller asked for something that cannot be
    - "program": a program, kernel or plan is not well formed
    - "wrong": it ran or was checked, and is wrong: bad result, race, deadlock
    - "bound": a stated limit was reached before an answer was found
    - "resource": the machine said no: memory, files, processes
    """

    fault: str

    def __init__(self, message: str, fault: str = "usage") -> None:
        super().__init__(message)
        self.fault = fault


class Diagnostic:
    """One thing to say about a program: an error or a warning, and where it is."""

    __slots__ = ("severity", "line", "column", "length", "message", "hint")

    severity: str
    line: int
    column: int
    length: int
    message: str
    hint: str

    def __init__(
        self, severity: str, line: int, column: int, length: int, message: str, hint: str = ""
    ) -> None:
        self.severity = severity
        self.line = line
        self.column = column
        self.length = length
        self.message = message
        self.hint = hint

    def __repr__(self) -> str:
        return f"<{self.severity} at {self.line}:{self.column}: {self.message}>"


class ProgramError(Error):
    """A program with errors in it. The message shows each with its line and a caret; `diagnostics`
    has them one by one, in source order."""

    diagnostics: list[Diagnostic]

    def __init__(self, message: str, diagnostics: list[Diagnostic]) -> None:
        super().__init__(message, "program")
        self.diagnostics = diagnostics

    def __reduce__(self) -> tuple[type[ProgramError], tuple[str, list[Diagnostic]]]:
        return type(self), (str(self), self.diagnostics)


class RequirementError(ProgramError):
    """A `require` of the kernel does not hold for this number of ranks, these sizes and scalars."""
