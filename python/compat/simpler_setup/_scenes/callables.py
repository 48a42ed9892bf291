# SPDX-License-Identifier: Apache-2.0
"""The callables of a scene: compiled, and registered with a worker."""

import os

from simpler.task_interface import ChipCallable, CoreCallable

from ..kernel_compiler import KernelCompiler


class CallableNamespace:
    """What an orchestration function finds by name: handles, and `name_sig`, the signatures of chip callables."""

    def __init__(self, entries):
        self._entries, self._kept = dict(entries), []

    def __getattr__(self, name):
        entries = self.__dict__.get("_entries", {})
        if name not in entries:
            raise AttributeError(f"there is no callable {name!r}; there are {', '.join(entries) or 'none'}")
        return entries[name]

    def keep(self, *objects):
        """They stay until the scene is over."""
        self._kept.extend(objects)
        return objects[0] if len(objects) == 1 else objects


def located(callable, directory):
    """A copy of CALLABLE whose paths do not depend on where the test was started."""
    if isinstance(callable, dict):
        return {key: _located_value(key, value, directory) for key, value in callable.items()}
    if isinstance(callable, (list, tuple)):
        return [located(each, directory) for each in callable]
    return callable


def _located_value(key, value, directory):
    if key == "source":
        return os.path.join(directory, value)
    if key == "extra_include_dirs":
        return [os.path.join(directory, each) for each in value]
    return located(value, directory)


def entries_of(cls):
    """The entries of CALLABLE: at level 2 it is one itself."""
    if "callables" in cls.CALLABLE:
        return cls.CALLABLE["callables"]
    return [{"name": "main", **cls.CALLABLE}]


def registered(worker, cls, platform):
    """Registers what a class needs; (chip handles and their signatures, handles of Python functions), by name."""
    chips, subs = {}, {}
    for entry in entries_of(cls):
        if "callable" in entry:
            subs[entry["name"]] = worker.register(entry["callable"])
        else:
            chips[entry["name"]] = worker.register(built(entry, platform, cls._st_runtime))
            chips[f"{entry['name']}_sig"] = list(entry["orchestration"].get("signature", []))
    return chips, subs


def built(entry, platform, runtime):
    """A chip entry as a ChipCallable."""
    compiler = KernelCompiler(platform)
    children = []
    for incore in entry["incores"]:
        binary = compiler.compile_incore(
            incore["source"],
            core_type=incore.get("core_type", "aiv"),
            extra_include_dirs=incore.get("extra_include_dirs"),
        )
        children.append((incore["func_id"], CoreCallable.build(incore.get("signature", []), binary)))
    shim = entry["orchestration"]
    return ChipCallable.build(
        signature=shim.get("signature", []),
        func_name=shim["function_name"],
        config_name=shim.get("config_name", ""),
        binary=compiler.compile_orchestration(runtime, shim["source"], extra_include_dirs=shim.get("extra_include_dirs")),
        children=children,
    )
