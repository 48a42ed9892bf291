# SPDX-License-Identifier: Apache-2.0
"""Programs as they were read, and `compile`."""

from .._peal.compiled import compile  # noqa: F401
from .._peal.enums import ArgDirection, ForKind, FunctionType, Level, MemorySpace, ParamDirection, Role  # noqa: F401
from .._peal.nodes import *  # noqa: F401,F403
from .._peal.nodes import Op as _Op
from .._peal.unsupported import missing as _missing
from .._peal.visiting import IRVisitor, assert_structural_equal, structural_equal  # noqa: F401


def get_op(name):
    """An op, to compare with `call.op`."""
    return _Op(name)


def python_print(node):
    """A program or function as text that can be read again."""
    return str(node)


__getattr__ = _missing("pypto.ir")
