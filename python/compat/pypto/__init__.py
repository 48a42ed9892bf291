# SPDX-License-Identifier: Apache-2.0
"""Programs written for `pypto`, on Peal: read, proved, and run on devices that are processes of this machine.

docs/compatibility.md lists what is supported.
"""

from peal._unsupported import missing as _missing

from ._peal.dtypes import DataType  # noqa: F401

__version__ = "0+peal"


class InternalError(RuntimeError):
    """An invariant does not hold."""


__getattr__ = _missing(__name__)
