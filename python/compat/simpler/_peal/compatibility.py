# SPDX-License-Identifier: Apache-2.0
"""The part of docs/compatibility.md that is about `simpler`, from what the code has: `python3 -m simpler._peal.compatibility`."""

import importlib
import inspect
import sys

BEGIN, END = "<!-- simpler: begin -->", "<!-- simpler: end -->"
MODULES = (
    "simpler.task_interface",
    "simpler.buffer",
    "simpler.worker",
    "simpler._task_interface",
    "simpler_setup",
    "simpler_setup.scene_test",
    "simpler_setup.kernel_compiler",
    "simpler_setup.pto_isa",
    "simpler_setup.elf_parser",
    "simpler_setup.torch_interop",
    "simpler_setup.platform_info",
    "simpler_setup.parallel_scheduler",
)


def public(module):
    """What a driver may import: what the modules of these two packages define."""
    names = []
    for name, value in vars(module).items():
        ours = getattr(value, "__module__", module.__name__).split(".")[0] in ("simpler", "simpler_setup")
        if name.startswith("_") or inspect.ismodule(value) or not ours:
            continue
        names.append(name)
    return sorted(names)


def methods(cls):
    return [n for n in vars(cls) if not n.startswith("_") and (callable(getattr(cls, n)) or isinstance(vars(cls)[n], property))]


def text():
    from ..worker import Worker
    from .orchestrator import Orchestrator

    lines = [BEGIN, "| module | names |", "| --- | --- |"]
    for name in MODULES:
        names = ", ".join(f"`{n}`" for n in public(importlib.import_module(name)))
        lines.append(f"| `{name}` | {names} |")
    lines += [
        "",
        "- Not supported: drivers whose kernels read data to decide, such as `group_reservation` and `all_to_all_v`: a plan is made before "
        "any data is known.",
        f"- A worker has {', '.join(f'`{n}`' for n in methods(Worker))}.",
        f"- What a function given to `run` gets has {', '.join(f'`{n}`' for n in methods(Orchestrator))}.",
        END,
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(text() + "\n")
