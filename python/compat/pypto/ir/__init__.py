# SPDX-License-Identifier: Apache-2.0
"""Programs as they were read, and `compile`."""

from peal._unsupported import missing as _missing, unsupported as _unsupported

from .._peal.compiled import compile  # noqa: F401
from .._peal.enums import ArgDirection, ForKind, FunctionType, Level, MemorySpace, ParamDirection, Role  # noqa: F401
from .._peal.nodes import *  # noqa: F401,F403
from .._peal import registry as _registry
from .._peal.nodes import Op as _Op
from .._peal.nodes import spelled as _spelled
from .._peal.visiting import IRVisitor, assert_structural_equal, structural_equal  # noqa: F401


def _written(name):
    """The function that makes calls of an op."""
    from .. import language  # noqa: F401: fills the registry

    found = _registry.OPS.get(_spelled(name))
    if found is None:
        raise ValueError(_unsupported(f"the op '{name}'"))
    return found


def get_op(name):
    """An op, to compare with `call.op`."""
    _written(name)
    return _Op(name)


def create_op_call(name, args, kwargs=None, span=None):
    """A call of an op, as a program that writes it has it: wrong operands are a TypeError or ValueError."""
    with _registry.at(span or Span.unknown()):  # noqa: F405
        return _written(name)(*args, **(kwargs or {}))


def python_print(node):
    """A program or function as text that can be read again."""
    return str(node)


__getattr__ = _missing(__name__)
