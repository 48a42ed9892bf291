# SPDX-License-Identifier: Apache-2.0
"""What `ir.compile` returns, and the configuration that it takes."""

from .._peal.compiled import DistributedCompiledProgram, DistributedConfig  # noqa: F401
