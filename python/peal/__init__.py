# SPDX-License-Identifier: Apache-2.0
"""Peal: write a collective once. Prove it, run it, draw it.

    program = peal.parse(text)          # a kernel in the .peal language
    print(program.show("lowered"))      # its collectives written out

Errors are `peal.Error`, and `peal.ProgramError` for programs with errors in them.
"""

from ._errors import Diagnostic, Error, ProgramError, RequirementError
from ._peal import Program, parse, parse_file

__all__ = [
    "Diagnostic",
    "Error",
    "Program",
    "ProgramError",
    "RequirementError",
    "parse",
    "parse_file",
]
