# SPDX-License-Identifier: Apache-2.0
"""Passes over programs."""

from peal._unsupported import missing as _missing

from .._peal import passes as _passes
from .._peal.passes import PassContext, VerificationInstrument  # noqa: F401

for _name in _passes.PASSES:
    globals()[_name] = getattr(_passes, _name)

__getattr__ = _missing(__name__, "passes")
