# SPDX-License-Identifier: Apache-2.0
"""What the packages under other projects' names (compat/) say of what they do not have: the error names it, and says where the
list of what is there stands, whether it is taken from a module, imported, or asked of an object. `hasattr` says no."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import EnumType, IntEnum
from typing import Any, NoReturn

_LIST = "docs/compatibility.md"

_shown: dict[str, str] = {}  # modules, and how programs write their names


def unsupported(what: str) -> str:
    return f"{what} is not supported by Peal; {_LIST} lists what is"


def attribute_error(owner: str, name: str) -> AttributeError:
    """Names of Python's own are asked for by its libraries: of them there is nothing to look up."""
    return AttributeError(f"{owner} has no {name}" if _is_pythons(name) else unsupported(f"{owner}.{name}"))


def _is_pythons(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def missing(module: str, shown: str = "") -> Callable[[str], object]:
    """`__getattr__ = missing(__name__)` in a module; `shown` is the name that programs have for it."""
    owner = _shown[module] = shown or module
    # Of what is no package, `from module import name` does not ask the finder below.
    vars(sys.modules[module]).setdefault("__path__", [])

    def lookup(name: str) -> object:
        raise attribute_error(owner, name)

    return lookup


def _is_import() -> bool:
    """Whether the finder below is asked by an import. `importlib.util.find_spec` asks it, too, and says None of what is missing."""
    return sys._getframe(3).f_code.co_name.startswith("_find_and_load")


class _Finder:
    """Is asked for modules that nobody else finds. The error has no `name`: Python takes one that has for an attribute that is
    missing, and words it itself."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> None:
        package, _, name = fullname.rpartition(".")
        if fullname.partition(".")[0] in _shown and not _is_pythons(name) and _is_import():
            raise ModuleNotFoundError(unsupported(f"{_shown.get(package, package)}.{name}"))


sys.meta_path.append(_Finder)


class _NamedType(type):
    def __getattr__(cls, name: str) -> Any:
        raise attribute_error(cls.__name__.lstrip("_"), name)


class Named(metaclass=_NamedType):
    """A class of which, and of whose objects, what is missing is named."""

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        raise attribute_error(type(self).__name__.lstrip("_"), name)


class _NamedEnumType(_NamedType, EnumType):
    def __getattr__(cls, name: str) -> Any:
        members = vars(cls).get("_member_map_", {})  # Python 3.11 finds them here
        return members[name] if name in members else super().__getattr__(name)


class NamedEnum(IntEnum, metaclass=_NamedEnumType):
    """Numbers with names, and nothing else."""

    def __getattr__(self, name: str) -> NoReturn:
        raise attribute_error(type(self).__name__, name)
