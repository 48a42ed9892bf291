# SPDX-License-Identifier: Apache-2.0
"""Errors of programs that are read."""

from peal._unsupported import missing as _missing

from .exceptions import (  # noqa: F401
    InvalidOperationError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    ScopeIsolationError,
    SSAViolationError,
    UndefinedVariableError,
    UnsupportedFeatureError,
)

__getattr__ = _missing(__name__)
