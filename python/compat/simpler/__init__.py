# SPDX-License-Identifier: Apache-2.0
"""Drivers written for `simpler`, on Peal: chip tasks are traced, proved, and run on devices that are threads of this
process.

docs/compatibility.md lists what is supported.
"""

from peal._unsupported import missing as _missing

__version__ = "0+peal"

__getattr__ = _missing(__name__)
