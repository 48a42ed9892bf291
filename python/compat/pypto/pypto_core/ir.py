# SPDX-License-Identifier: Apache-2.0
"""The same as `pypto.ir`."""

from peal._unsupported import missing as _missing

from ..ir import *  # noqa: F401,F403
from ..ir import create_op_call, get_op, python_print  # noqa: F401

__getattr__ = _missing(__name__)
