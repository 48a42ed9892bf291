# SPDX-License-Identifier: Apache-2.0
"""A worker that stays: `compiled.prepare(...)`."""

import time

import peal
from peal._unsupported import Named

from .compiled import CLOSE_DEADLINE, DistributedCompiledProgram, close_without_waiting
from .device_memory import Memory, like, plain


class DistributedWorker(Named):
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
        self._bound = {**(callbacks or {}), **(sub_worker_overrides or {})}
        known = {f.name for p in programs for f in p.program.functions.values() if f.is_sub_worker()}
        unknown = sorted(set(self._bound) - known)
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: not sub-workers of the program")
        devices = programs[0].config.device_ids
        if any(p.config.device_ids != devices for p in programs):
            raise ValueError("the programs of one worker have the same device_ids")
        self._programs, self._persistent = programs, persistent
        self._zeroed = not persistent or reset_persistent_windows is not False
        self._w = Memory(list(devices))
        self._windows = {}  # of an executable, where they stay
        self._calls = []  # that are under way
        self._worker = peal.Worker(devices=list(devices), engine="in_process", close_deadline=CLOSE_DEADLINE)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None or self._worker is None:
            self.close()
            return
        self._calls.clear()  # what goes wrong in the block, Ctrl-C first of all, does not wait for them
        close_without_waiting(self._worker)
        self._closed()

    def close(self):
        if self._worker is not None:
            while self._calls:
                self._calls[0].wait()
            self._worker.close()
            self._closed()

    def _closed(self):
        self._worker = None
        self._w.clear()

    def __call__(self, *args, config=None):
        if len(self._programs) != 1:
            raise TypeError("ambiguous: the worker has several programs; use run(compiled, ...)")
        return self.run(self._programs[0], *args, config=config)

    def run(self, compiled, *args, config=None):
        self._begun("run", compiled, args, config).result()

    def submit(self, compiled, *args, config=None):
        """A call that goes on by itself. Two are under way at once; a third waits for the oldest."""
        return self._begun("submit", compiled, args, config)

    def _begun(self, word, compiled, args, config):
        self._require_open(word)
        if compiled not in self._programs:
            raise ValueError("this program is not one of the worker's; register() it first")
        if len(args) != len(compiled.function.params):
            raise TypeError(f"a prepared program takes all {len(compiled.function.params)} arguments, found {len(args)}")
        memory, _, executable = compiled.bind([plain(a) for a in args], self._zeroed)
        while self._calls and (self._persistent or len(self._calls) > 1):
            self._calls[0].wait()
        domains = self._domains(executable)
        tasks = executable.submit(self._worker, domains, memory, self._bound)
        self._calls.append(_Call(self, tasks, {} if self._persistent else domains))
        return self._calls[-1]

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

    # ---- memory of the devices

    @property
    def _owned_tensors(self):
        return self._w.tensors

    def _require_open(self, word):
        if self._worker is None:
            raise RuntimeError(f"{word}() called after close()")

    def alloc_tensor(self, shape, dtype, *, init=None, worker_id=0):
        self._require_open("alloc_tensor")
        return self._w.tensor(self, shape, dtype, init, worker_id)

    def free_tensor(self, tensor):
        self._require_open("free_tensor")
        self._w.free(tensor)

    def alloc_stacked_tensor(self, host, *, worker_ids=None):
        self._require_open("alloc_stacked_tensor")
        return self._w.stacked(self, host, worker_ids)

    free_stacked_tensor = free_tensor

    def copy_stacked_from(self, stacked, host):
        """The rows of all devices, into memory of the host."""
        self._require_open("copy_stacked_from")
        if tuple(host.shape) != stacked.shape:
            raise ValueError(f"the host's tensor has the shape {tuple(host.shape)}, the stacked one {stacked.shape}")
        host[...] = like(stacked.array)

    def release_inherited_host_tensor_refs(self):
        """Nothing is inherited: devices are threads of this process."""

    def malloc(self, nbytes, *, worker_id=0):
        self._require_open("malloc")
        return self._w.malloc(nbytes, worker_id)

    def free(self, address, *, worker_id=0):
        self._require_open("free")
        self._w.release(address)

    def copy_to(self, dst_ptr, src_ptr, nbytes, *, worker_id=0):
        self._require_open("copy_to")
        self._w.copy(dst_ptr, src_ptr, nbytes, worker_id)

    copy_from = copy_to

    def register(self, compiled):
        self._require_open("register")
        self._programs.append(compiled)
        return _Handle(self, compiled)


class _Call(Named):
    """A call that is under way, or over."""

    def __init__(self, worker, tasks, domains):
        self._worker, self._tasks, self._domains, self._error = worker, tasks, domains, None

    @property
    def done(self):
        return all(task.is_over for task in self._tasks)

    def wait(self, timeout=None):
        """Until it is over, at most `timeout` seconds; whether it is. What went wrong is for result() to raise."""
        limit = None if timeout is None else time.monotonic() + timeout
        for task in self._tasks:
            try:
                left = None if limit is None else max(0.0, limit - time.monotonic())
                if task.wait(left) is False:
                    return False
            except Exception as error:  # a kernel's, or whatever a sub-worker raised
                self._error = self._error or error
        self._over()
        return True

    def _over(self):
        if self in self._worker._calls:
            self._worker._calls.remove(self)
        while self._domains:
            self._domains.popitem()[1].release()

    def result(self, timeout=None):
        if not self.wait(timeout):
            raise TimeoutError(f"the call is not over after {timeout} s")
        if self._error is not None:
            raise self._error


class _Handle(Named):
    def __init__(self, worker, compiled):
        self._worker, self.compiled = worker, compiled

    @property
    def closed(self):
        return self._worker._worker is None

    def __call__(self, *args, config=None):
        return self._worker.run(self.compiled, *args, config=config)
