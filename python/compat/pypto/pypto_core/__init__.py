# SPDX-License-Identifier: Apache-2.0
"""Programs as they were read, under the name that tests of programs use."""

from peal._unsupported import missing as _missing

from .._peal.dtypes import DataType  # noqa: F401

__getattr__ = _missing(__name__)
