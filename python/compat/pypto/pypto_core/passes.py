# SPDX-License-Identifier: Apache-2.0
"""Passes over programs."""

from .._peal import passes as _passes
from .._peal.passes import PassContext, VerificationInstrument  # noqa: F401
from .._peal.unsupported import missing as _missing

for _name in _passes.PASSES:
    globals()[_name] = getattr(_passes, _name)

__getattr__ = _missing("passes")
