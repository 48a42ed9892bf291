# SPDX-License-Identifier: Apache-2.0
"""Errors of programs that are read."""

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
