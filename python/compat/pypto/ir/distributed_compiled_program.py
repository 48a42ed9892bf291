# SPDX-License-Identifier: Apache-2.0
"""What `ir.compile` returns, and the configuration that it takes."""

from peal._unsupported import missing as _missing

from .._peal.compiled import DistributedCompiledProgram, DistributedConfig  # noqa: F401

__getattr__ = _missing(__name__)
