# SPDX-License-Identifier: Apache-2.0
"""Programs as they were read, under the name that tests of programs use."""

from .._peal.dtypes import DataType  # noqa: F401
from .._peal.unsupported import missing as _missing

__getattr__ = _missing("pypto.pypto_core")
