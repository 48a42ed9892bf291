# SPDX-License-Identifier: Apache-2.0
"""The parser's public part: its errors, in `diagnostics`."""

from peal._unsupported import missing as _missing

__getattr__ = _missing(__name__)
