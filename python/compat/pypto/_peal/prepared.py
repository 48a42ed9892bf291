# SPDX-License-Identifier: Apache-2.0
"""A worker that stays: `compiled.prepare(...)`."""

import peal

from .compiled import DistributedCompiledProgram, run


class _Memory:
    """Counts what was allocated for windows that stay."""

    def __init__(self):
        self._next_alloc_id = 0


class DistributedWorker:
    def __init__(
        self,
        compiled,
        config=None,
        *,
        persistent=False,
        reset_persistent_windows=None,
        callbacks=None,
        sub_worker_overrides=None,
        inherited_host_tensors=None,
        startup_timeout_s=None,
    ):
        programs = list(compiled) if isinstance(compiled, (list, tuple)) else [compiled]
        for program in programs:
            if not isinstance(program, DistributedCompiledProgram):
                raise TypeError(f"a worker runs compiled programs, found {type(program).__name__}")
        if reset_persistent_windows and not persistent:
            raise ValueError("reset_persistent_windows=True needs persistent=True")
        if callbacks or sub_worker_overrides:
            names = sorted({*(callbacks or {}), *(sub_worker_overrides or {})})
            raise ValueError(f"{', '.join(names)}: not sub-workers of the program")
        devices = programs[0].config.device_ids
        if any(p.config.device_ids != devices for p in programs):
            raise ValueError("the programs of one worker have the same device_ids")
        self._programs, self._persistent = programs, persistent
        self._zeroed = not persistent or reset_persistent_windows is not False
        self._w = _Memory()
        self._windows = {}  # of an executable, where they stay
        self._worker = peal.Worker(devices=list(devices), engine="in_process")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def __call__(self, *args, config=None):
        if len(self._programs) != 1:
            raise TypeError("ambiguous: the worker has several programs; use run(compiled, ...)")
        return self.run(self._programs[0], *args, config=config)

    def run(self, compiled, *args, config=None):
        if self._worker is None:
            raise RuntimeError("run() called after close()")
        if compiled not in self._programs:
            raise ValueError("this program is not one of the worker's; register() it first")
        if len(args) != len(compiled.function.params):
            raise TypeError(f"a prepared program takes all {len(compiled.function.params)} arguments, found {len(args)}")
        memory, _, executable = compiled.bind(args, self._zeroed)
        run(self._worker, executable, self._domains(executable), memory, keep=self._persistent)

    def _domains(self, executable):
        if not self._persistent:
            return executable.allocate(self._worker)
        kept = self._windows.get(id(executable))
        if kept is None:
            self._w._next_alloc_id += 1
        elif not self._zeroed:
            return kept
        else:  # zeroed again, and every generation with it
            for domain in kept.values():
                domain.release()
        self._windows[id(executable)] = executable.allocate(self._worker)
        return self._windows[id(executable)]

    def register(self, compiled):
        if self._worker is None:
            raise RuntimeError("register() called after close()")
        self._programs.append(compiled)
        return _Handle(self, compiled)


class _Handle:
    def __init__(self, worker, compiled):
        self._worker, self.compiled = worker, compiled

    @property
    def closed(self):
        return self._worker._worker is None

    def __call__(self, *args, config=None):
        return self._worker.run(self.compiled, *args, config=config)
