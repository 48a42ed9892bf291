# SPDX-License-Identifier: Apache-2.0
"""Configuration of runs, and workers that stay."""

from peal._unsupported import missing as _missing

from .._peal.compiled import DistributedCompiledProgram  # noqa: F401
from .._peal.device_memory import DeviceTensor, StackedDeviceTensor  # noqa: F401
from .._peal.prepared import DistributedWorker  # noqa: F401
from .._peal.run_config import RunConfig  # noqa: F401

__getattr__ = _missing(__name__)
