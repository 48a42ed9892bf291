# SPDX-License-Identifier: Apache-2.0
"""A program for one number of devices and one set of shapes: kernels that are proved, and how a call hands them out."""

import linecache
from math import prod

import peal
from peal._peal import compile_program, hosted_run

from . import arrays, nodes, verdicts
from .arithmetic import CompileError
from .claims import claims_of
from .enums import ParamDirection
from .host_passes import variant_of
from .lowering import lowered
from .stages import HostRun, Meeting, Stage, SubWork


class Kernel:
    """One stage: its plans, and what its parameters are bound to."""

    def __init__(self, program, stage, lowering, filename, text):
        try:
            self.name, self.program = lowering.kernel(filename, text)
            tables = {p.name: p.source for p in lowering.params if p.kind == "table"}
            self.made = (self.program, len(stage.devices), self.name), tables
            self.plans = self.compiled()
        except peal.ProgramError as error:
            raise CompileError(str(error)) from error
        self.devices = stage.devices
        self.collectives = [variant_of(s.expr) for s in stage.steps if s.expr is not None]
        self.params = [p for p in lowering.params if p.kind != "table"]
        self.claims = claims_of(program, self.params, len(self.devices))
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
        host = HostRun(program, function, world_size, shapes, scalars)
        stages = host.stages()
        self.created = host.created
        tensors += ["inout"] * len(self.created)
        parts = [stage for stage in stages if isinstance(stage, Stage)]
        self.kernels = [
            Kernel(program, stage, lowering, filename, text)
            for stage, lowering in zip(parts, lowered(program, parts, tensors))
        ]
        rest = iter(self.kernels)
        self.steps = [next(rest) if isinstance(stage, Stage) else stage for stage in stages]
        self.domains = {}  # devices -> the windows that their kernels share
        for kernel in self.kernels:
            windows = self.domains.setdefault(tuple(kernel.devices), {})
            for window in kernel.windows:
                known = windows.setdefault(window.name, window)
                if (known.cells, list(known.shape)) != (window.cells, list(window.shape)):
                    raise CompileError(f"window '{window.name}' is not the same in all dispatches")
        self.verdicts = []
        for devices in self.domains:
            # What a turn of the host comes after is over on every device before what comes after it.
            mine = [s for s in self.steps if not isinstance(s, Kernel) or tuple(s.devices) == devices]
            self.verdicts.append(verdicts.prove(mine, zeroed, filename))
            run = hosted_run([s.plans if isinstance(s, Kernel) else [] for s in mine], zeroed)
            for kernel in (s for s in mine if isinstance(s, Kernel)):
                kernel.device_kernel = kernel.device_kernel.proved_in(run)

    def allocate(self, worker):
        """Windows, zeroed."""
        return {
            devices: worker.allocate_domain(list(windows.values()), list(devices), self.function.name)
            for devices, windows in self.domains.items()
        }

    def unbound(self, bound):
        """The first sub-worker that has nothing to run."""
        names = (s.function for s in self.steps if isinstance(s, SubWork))
        return next((f.name for f in names if f.requires_runtime_binding and f.name not in bound), None)

    def submit(self, worker, domains, values, bound):
        """One call. `bound` are functions in place of the program's own sub-workers: they get a list."""
        if self.unbound(bound):
            raise ValueError(f"sub-worker '{self.unbound(bound)}' must be bound: compiled.prepare(callbacks={{name: function}})")
        like = values[0] if values else None
        values = [*values, *(arrays.filled(shape, dtype, value, like) for shape, dtype, value in self.created)]
        tasks, after = [], []
        for step in self.steps:
            if isinstance(step, Kernel):
                domain = domains[tuple(step.devices)]
                tasks.append(worker.submit_group(step.device_kernel, domain, step.arguments(domain, values), after=after))
            elif isinstance(step, Meeting):
                after = list(tasks)
            else:
                tasks.append(worker.submit_host(sub_work(step, values, bound), name=step.function.name, after=list(tasks)))
                after = [tasks[-1]]
        return tasks


def sub_work(step, values, bound):
    """What a sub-worker does in this call: on the memory of the arguments, where it is."""
    args = []
    for arg in step.args:
        if isinstance(arg, (int, float)):
            args.append(arg)
        else:
            count = prod(arg.shape)
            args.append(values[arg.index].reshape(-1)[arg.offset : arg.offset + count].reshape(tuple(arg.shape)))
    name = step.function.name
    if name in bound:
        return lambda: bound[name](args)
    return lambda: step.function.python(*args)


def shapes_of(function, values):
    return [list(v.shape) for p, v in zip(function.params, values) if isinstance(p.type, nodes.TensorType)]

