# SPDX-License-Identifier: Apache-2.0
"""`ir.compile` and what it returns."""

import atexit
import datetime
import itertools
import numbers
import os
import sys
from pathlib import Path

import peal
from peal._layers import checked_platform
from peal._unsupported import Named, unsupported

from . import arrays, nodes
from .arithmetic import fold, solve
from .device_memory import of_device
from .enums import ParamDirection
from .executable import Executable, shapes_of
from .host_passes import checked_domains, require_cores

# Seconds that a worker waits for at its end. All calls are over by then but those that were interrupted.
CLOSE_DEADLINE = 1.0

_directories = set()  # that programs were given, whether they wrote there or not
_workers = {}  # device numbers -> a worker that serves calls of any program


def shared_worker(device_ids):
    key = tuple(device_ids)
    worker = _workers.get(key)
    if worker is None or worker.state in ("failed", "closed"):
        worker = _workers[key] = peal.Worker(devices=list(key), engine="in_process", close_deadline=CLOSE_DEADLINE)
    return worker


@atexit.register
def _close():
    while _workers:
        close_without_waiting(_workers.popitem()[1])


def close_without_waiting(worker):
    """A sub-worker that goes on is left behind; that is told, and nothing is raised."""
    try:
        worker.close()
    except peal.Error as error:
        print(f"peal: {error}", file=sys.stderr)


class DistributedConfig(Named):
    """Which devices a program runs on: device k of the program is device_ids[k]."""

    def __init__(self, device_ids=(0,), num_sub_workers=0, runtime="tensormap_and_ringbuffer", aicpu_thread_num=0):
        if not isinstance(device_ids, (list, tuple, range)) or not all(isinstance(i, int) for i in device_ids):
            raise ValueError(f"device_ids must be a list of ints, found {device_ids!r}")
        ids = list(device_ids)
        if not ids:
            raise ValueError("device_ids must not be empty")
        if any(i < 0 for i in ids):
            raise ValueError("device_ids must be non-negative")
        if len(set(ids)) != len(ids):
            raise ValueError("device_ids must be distinct")
        if num_sub_workers < 0:
            raise ValueError("num_sub_workers must be non-negative")
        if aicpu_thread_num < 0 or aicpu_thread_num == 1:
            raise ValueError("aicpu_thread_num must be 0 or at least 2")
        self.device_ids, self.num_sub_workers = ids, num_sub_workers
        self.runtime, self.aicpu_thread_num = runtime, aicpu_thread_num


def require_config(config):
    """What is neither a configuration nor None would be taken for none."""
    if config is not None and not isinstance(config, DistributedConfig):
        raise TypeError(f"distributed_config must be a DistributedConfig, found {type(config).__name__}")


def compile(program, output_dir=None, *, platform=None, distributed_config=None, **ignored):
    """Makes a program ready for its devices. What is wrong with it for them is a ValueError."""
    unknown = set(ignored) - IGNORED
    if unknown:
        raise TypeError(f"compile() got an unexpected keyword argument '{sorted(unknown)[0]}'")
    if not isinstance(program, nodes.Program):
        raise TypeError(f"ir.compile takes a program made by @pl.program, found {type(program).__name__}")
    require_config(distributed_config)
    if platform is not None:
        checked_platform(platform)
    return DistributedCompiledProgram(program, output_dir, platform, distributed_config or DistributedConfig())


IGNORED = set(
    "strategy dump_passes backend_type skip_ptoas verification_level diagnostic_phase disabled_diagnostics memory_planner "
    "enable_pypto_l0c_double_buffer profiling analyze_auto_scopes_for_deps emit_source_loc dump_ptoas_passes runtime".split()
)


class DistributedCompiledProgram(Named):
    def __init__(self, program, output_dir, platform, config):
        hosts = program.host()
        if len(hosts) != 1:
            raise ValueError(
                f"program {program.name} has {len(hosts)} HOST orchestrators; Peal runs programs with exactly one"
            )
        checked_domains(program)
        require_cores(program, platform)
        self.program, self.platform, self.config = program, platform, config
        self.function = hosts[0]
        self.output_dir = self.directory(output_dir)
        self._ready = {}
        if self.is_static():
            self.executable(self.declared_shapes(), {}, True)

    def directory(self, given):
        self.writes = given is not None or bool(os.environ.get("PYPTO_PROG_BUILD_DIR"))
        if given is not None:
            return Path(given)
        now = datetime.datetime.now().strftime("%Y%m%d_%H%M%S")
        first = Path(os.environ.get("PYPTO_PROG_BUILD_DIR") or "build_output") / f"{self.program.name}_{now}"
        places = itertools.chain([first], (first.with_name(f"{first.name}_{n}") for n in itertools.count(2)))
        place = next(p for p in places if p.absolute() not in _directories and not p.exists())
        _directories.add(place.absolute())
        return place

    # ---- what is known before any argument is

    def tensors(self):
        return [p for p in self.function.params if isinstance(p.type, nodes.TensorType)]

    def is_static(self):
        known = all(isinstance(d, nodes.ConstInt) for p in self.tensors() for d in p.type.shape)
        return known and len(self.tensors()) == len(self.function.params)

    def declared_shapes(self):
        return [[d.value for d in p.type.shape] for p in self.tensors()]

    def executable(self, shapes, scalars, zeroed):
        key = (str(shapes), str(sorted(scalars.items())), zeroed)
        if key not in self._ready:
            size = len(self.config.device_ids)
            self._ready[key] = Executable(self.program, self.function, size, shapes, scalars, zeroed)
            self.write_kernels(self._ready[key])
        return self._ready[key]

    def write_kernels(self, executable):
        """The kernels that the program became, for people to read."""
        if not self.writes and not self.output_dir.is_dir():
            return
        self.output_dir.mkdir(parents=True, exist_ok=True)
        for kernel in executable.kernels:
            (self.output_dir / f"{kernel.name}.peal").write_text(str(kernel.program))
            for variant in kernel.collectives:
                place = self.output_dir / "next_levels" / f"builtin.tensor.{variant}"
                place.mkdir(parents=True, exist_ok=True)
                (place / "kernel_config.py").write_text(f'"""A collective of the host: part of {kernel.name}.peal."""\n')

    @property
    def verdicts(self):
        """What was proved of each domain's kernels, for all shapes that were met so far."""
        return [v for e in self._ready.values() for v in e.verdicts]

    # ---- calls

    def bind(self, args, zeroed):
        """Arguments of a call: the values by parameter, those that were allocated, and the kernels."""
        params, directions = self.function.params, self.function.param_directions
        given = [p for p, d in zip(params, directions) if d != ParamDirection.Out]
        made = []
        if len(args) == len(params):
            values = list(args)
        elif len(args) == len(given) and self.function.has_return_annotation:
            values, made = self.with_outputs(args)
        else:
            listed = ", ".join(f"{p}: {d.name}" for p, d in zip(params, directions))
            raise TypeError(f"{self.function.name}() takes {len(params)} arguments ({listed}), found {len(args)}")
        scalars = {}
        for param, value in zip(params, values):
            if isinstance(param.type, nodes.TensorType):
                arrays.require(value, param, self.function.name)
            else:
                scalars[param.name_hint] = number_for(param, value, self.function.name)
        shapes = shapes_of(self.function, values)
        memory = [v for p, v in zip(params, values) if isinstance(p.type, nodes.TensorType)]
        return memory, made, self.executable(shapes, scalars, zeroed)

    def with_outputs(self, args):
        params, directions = self.function.params, self.function.param_directions
        symbols = {}
        for param, value in zip([p for p, d in zip(params, directions) if d != ParamDirection.Out], args):
            if isinstance(param.type, nodes.TensorType):
                arrays.require(value, param, self.function.name)
                solve(param, list(value.shape), symbols)
        like = next((v for v in args if arrays.is_array(v)), None)

        def number(expr):
            return symbols[expr.name_hint] if isinstance(expr, nodes.DynVar) else fold(expr, number)

        rest, values, made = iter(args), [], []
        for param, direction in zip(params, directions):
            if direction == ParamDirection.Out:
                made.append(arrays.zeros([number(d) for d in param.type.shape], param.type.dtype, like))
            values.append(made[-1] if direction == ParamDirection.Out else next(rest))
        return values, made

    def __call__(self, *args, config=None):
        if any(of_device(a) for a in args):
            raise TypeError("memory of a device belongs to a worker: call compiled.prepare(), and the worker that it returns")
        memory, made, executable = self.bind(args, True)
        worker = shared_worker(self.config.device_ids)
        run(worker, executable, executable.allocate(worker), memory)
        if not made:
            return None
        return made[0] if len(made) == 1 else tuple(made)

    def prepare(
        self,
        config=None,
        *,
        extra_compiled=(),
        persistent=False,
        reset_persistent_windows=None,
        callbacks=None,
        sub_worker_overrides=None,
        startup_timeout_s=None,
    ):
        from .prepared import DistributedWorker

        return DistributedWorker(
            [self, *extra_compiled],
            config,
            persistent=persistent,
            reset_persistent_windows=reset_persistent_windows,
            callbacks=callbacks,
            sub_worker_overrides=sub_worker_overrides,
            startup_timeout_s=startup_timeout_s,
        )

    @classmethod
    def from_dir(cls, path):
        raise NotImplementedError(unsupported("from_dir"))


def number_for(param, value, where):
    """A scalar, of Python or numpy."""
    is_float = param.type.dtype.is_float()
    if isinstance(value, bool) or not isinstance(value, numbers.Real if is_float else numbers.Integral):
        wanted = "a number" if is_float else "an int"
        raise TypeError(f"{where}: '{param}' must be {wanted}, found {type(value).__name__}")
    return float(value) if is_float else int(value)


def run(worker, executable, domains, memory):
    """One call, to its end. A worker that failed is not used again."""
    try:
        for task in executable.submit(worker, domains, memory, {}):
            task.wait()
    finally:
        for domain in domains.values():
            domain.release()
