# SPDX-License-Identifier: Apache-2.0
"""Programs of kernels: `import pypto.language as pl`.

Bodies are read, not run: the parser knows the literal names `pl`, `pld` and `self`.
"""

import sys

from peal._unsupported import missing as _missing

from .._peal import dtypes as _dtypes
from .._peal import ops_distributed as _ops_distributed  # noqa: F401: fills the registry
from .._peal import ops_local as _ops_local  # noqa: F401
from .._peal import parser as _parser
from .._peal import registry as _registry
from .._peal.annotations import InOut, Out, Scalar, Tensor  # noqa: F401
from .._peal.dtypes import DataType  # noqa: F401
from .._peal.enums import AtomicType, ForKind, FunctionType, Level, MemorySpace, Role  # noqa: F401
from .._peal.nodes import DynVar as dynamic

for _dtype in _dtypes.ALL:
    globals()[_dtype.name] = _dtype
for _name, _function in _registry.OPS.items():
    if _name.startswith("pl.") and _name.count(".") == 1:
        globals()[_name[3:]] = _function
tile = _registry.Namespace("pl.tile")
tensor = _registry.Namespace("pl.tensor")


def program(cls=None, *, strict_ssa=False):
    """Makes a program of a class: its methods under `@pl.function`, read from the file."""
    frame = sys._getframe(1)
    names = {**frame.f_globals, **frame.f_locals}

    def made(cls):
        from .. import language
        from . import distributed

        return _parser.parse_program(cls, {**names, "pl": names.get("pl", language), "pld": names.get("pld", distributed)}, strict_ssa)

    return made if cls is None else made(cls)


def parse_program(text):
    """The program that a text defines, as `str(program)` writes it."""
    return _parser.parse_text(text)


def function(
    func=None,
    *,
    type=FunctionType.Opaque,
    level=None,
    role=None,
    attrs=None,
    auto_scope=True,
    strict_ssa=False,
    external_source=None,
):
    """A function of a program: a kernel, an orchestration, or the host's part."""

    def marked(func):
        return _parser.Marked(func, type, level, role, strict_ssa)

    return marked if func is None else marked(func)


def _only_in_bodies(name):
    def refuse(*args, **kwargs):
        raise TypeError(f"pl.{name} stands in the body of a function of a program")

    refuse.__name__ = name
    return refuse


for _name in ("range", "parallel", "unroll", "yield_"):
    globals()[_name] = _only_in_bodies(_name)

_missing_here = _missing(__name__, "pl")


def __getattr__(name):
    if name == "jit":  # it compiles, and what compiles needs this module
        from .._peal.jit import jit

        globals()["jit"] = jit
        return jit
    return _missing_here(name)
