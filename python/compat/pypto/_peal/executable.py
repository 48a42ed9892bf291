# SPDX-License-Identifier: Apache-2.0
"""A program for one number of devices and one set of shapes: kernels that are proved, and how a call hands them out."""

import linecache

import peal
from peal._peal import compile_program

from . import arrays, nodes, verdicts
from .arithmetic import CompileError
from .enums import ParamDirection
from .lowering import Lowering
from .stages import HostRun


class Kernel:
    """One stage: its plans, and what its parameters are bound to."""

    def __init__(self, program, stage, directions, filename, text):
        lowering = Lowering.of(program, stage, directions)
        try:
            self.name, self.program = lowering.kernel(filename, text)
            tables = {p.name: p.source for p in lowering.params if p.kind == "table"}
            self.made = (self.program, len(stage.devices), self.name), tables
            self.plans = self.compiled()
        except peal.ProgramError as error:
            raise CompileError(str(error)) from error
        self.devices = stage.devices
        self.params = [p for p in lowering.params if p.kind != "table"]
        self.device_kernel = peal.DeviceKernel(self.plans)
        self.windows = self.device_kernel.windows(len(self.devices))

    def compiled(self, fuse=True):
        """Plans; without fusing, each instruction is one statement of the user's."""
        where, tables = self.made
        return compile_program(*where, fuse=fuse, **tables)

    def arguments(self, domain, values):
        windows = {w.name: domain[w.name] for w in self.windows}
        lists = []
        for rank in range(len(self.devices)):
            row = []
            for name, param in zip(self.plans[0].buffers, self.params):
                if param.kind == "window":
                    row.append(windows[name])
                else:
                    source = param.source[rank]
                    if source is None:  # another rank's: this one does not touch it
                        row.append(arrays.scratch(param.elements, param.dtype))
                    else:
                        row.append(arrays.part(values[source.index], source.offset, param.elements, param.dtype))
            lists.append(row)
        return lists


class Executable:
    def __init__(self, program, function, world_size, shapes, scalars, zeroed):
        self.function = function
        filename = function.filename
        text = "".join(linecache.getlines(filename))
        words = {ParamDirection.In: "in", ParamDirection.Out: "inout", ParamDirection.InOut: "inout"}
        tensors = [
            words[d]
            for p, d in zip(function.params, function.param_directions)
            if isinstance(p.type, nodes.TensorType)
        ]
        stages = HostRun(program, function, world_size, shapes, scalars).stages()
        self.kernels = [Kernel(program, stage, tensors, filename, text) for stage in stages]
        self.domains = {}  # devices -> the windows that their kernels share
        for kernel in self.kernels:
            windows = self.domains.setdefault(tuple(kernel.devices), {})
            for window in kernel.windows:
                known = windows.setdefault(window.name, window)
                if (known.cells, list(known.shape)) != (window.cells, list(window.shape)):
                    raise CompileError(
                        f"window buffer '{window.name}' holds signals in one dispatch and data in another, with those of "
                        "another domain in between, which is not supported"
                    )
        self.verdicts = []
        for devices in self.domains:
            mine = [k for k in self.kernels if tuple(k.devices) == devices]
            self.verdicts.append(verdicts.prove(mine, zeroed, filename))

    def allocate(self, worker):
        """Windows, zeroed."""
        return {
            devices: worker.allocate_domain(list(windows.values()), list(devices), self.function.name)
            for devices, windows in self.domains.items()
        }

    def submit(self, worker, domains, values):
        tasks = []
        for kernel in self.kernels:
            domain = domains[tuple(kernel.devices)]
            tasks.append(worker.submit_group(kernel.device_kernel, domain, kernel.arguments(domain, values)))
        return tasks


def shapes_of(function, values):
    return [list(v.shape) for p, v in zip(function.params, values) if isinstance(p.type, nodes.TensorType)]

