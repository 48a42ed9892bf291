# SPDX-License-Identifier: Apache-2.0
"""The same as `pypto.ir`."""

from ..ir import *  # noqa: F401,F403
from ..ir import create_op_call, get_op, python_print  # noqa: F401
