# SPDX-License-Identifier: Apache-2.0
"""The worker: chips that a driver hands tasks to."""

import hashlib
import math
from multiprocessing import shared_memory

import peal
from peal import _layers, _peal
from peal._unsupported import Named as _Named, missing as _missing, unsupported as _unsupported

from ._peal import arrays, binaries
from ._peal.orchestrator import Orchestrator, bytes_of_shape, host_range
from .buffer import AccessMode, AddressSpace, BackendKind, Buffer
from .task_interface import MAX_REGISTERED_CALLABLE_IDS, ArgDirection, CallConfig, ChipCallable

_RUNTIMES = ("tensormap_and_ringbuffer", "host_build_graph")
_WRITABLE = {"WRITEABLE": True}  # what has no such flags says itself whether it is
_OVER = {"closed": "the worker is closed", "failed": "the worker's init() has failed"}
_DIRECTIONS = {ArgDirection.IN: "in", ArgDirection.OUT: "out", ArgDirection.INOUT: "inout"}


class CallableHandle(_Named):
    """Something registered."""

    def __init__(self, worker, target, kind, digest):
        self._worker, self._target, self.kind, self.digest = worker, target, kind, digest
        self.hashid, self.target_namespace = "sha256:" + digest, "peal"


class RunHandle(_Named):
    """A run that was submitted. Runs are carried out when they are submitted, so it is over."""

    def __init__(self, error):
        self._error = error

    done = True

    def wait(self, timeout=None):
        if self._error is not None:
            raise self._error

    def result(self, timeout=None):
        self.wait(timeout)


class Worker(_Named):
    """Chips, by the numbers of `device_ids`; a chip's worker id is its place in the list."""

    def __init__(self, level, **config):
        if level not in (2, 3):
            raise ValueError(_unsupported(f"Worker: level {level!r}"))
        timeout = config.get("startup_timeout_s", 300)
        if not (timeout > 0 and math.isfinite(timeout)):
            raise ValueError(f"startup_timeout_s must be positive and finite, found {timeout}")
        platform = _layers.checked_platform(config.get("platform", "a2a3sim"))
        runtime = config.get("runtime", _RUNTIMES[0])
        if runtime not in _RUNTIMES:
            raise ValueError(f"runtime: expected {' or '.join(_RUNTIMES)}, found {runtime!r}")
        self.level, self.config, self.live_domains = level, config, {}
        self._platform = platform.removesuffix("sim") + "sim"
        ids = (config.get("device_ids") or []) if level == 3 else [config.get("device_id", 0)]
        if not isinstance(ids, (list, tuple, range)) or not all(isinstance(i, int) for i in ids):
            raise TypeError(f"Worker: device_ids: expected a list of ints, found {ids!r}")
        self._device_ids = list(ids)
        self._state, self._driver, self._orch, self._check = "new", None, None, None
        self._handles, self._by_number, self._buffers, self._built = [], {}, [], {}
        self._committed = {}  # chip -> {address: bytes}

    # ------------------------------------------------------------------------ callables

    def register(self, target, *, workers=None):
        """A ChipCallable or a Python function; a handle for it."""
        if isinstance(target, ChipCallable):
            kind = "chip"
        elif callable(target) and self.level >= 3:
            kind = "python"
        else:
            raise TypeError(f"register: expected a ChipCallable, found {type(target).__name__}")
        if len(self._handles) >= MAX_REGISTERED_CALLABLE_IDS:
            raise RuntimeError(f"register: MAX_REGISTERED_CALLABLE_IDS ({MAX_REGISTERED_CALLABLE_IDS}) reached")
        handle = CallableHandle(self, target, kind, _digest(target))
        if self._state == "ready":
            self._expect_place(handle)
        self._handles.append(handle)
        return handle

    def unregister(self, handle):
        self._expect_live(handle)
        self._handles.remove(handle)

    def _expect_live(self, handle):
        if isinstance(handle, ChipCallable):
            raise TypeError("expected the handle that register() returned, found a ChipCallable")
        if not isinstance(handle, CallableHandle):
            raise TypeError(f"expected the handle that register() returned, found {type(handle).__name__}")
        if handle._worker is not self or handle not in self._handles:
            raise KeyError("the callable is not live: it was unregistered, or is another worker's")

    def _expect_place(self, handle):
        if handle.kind == "python" and not self.config.get("num_sub_workers", 0):
            raise RuntimeError("a Python function is registered, but there are no sub workers (num_sub_workers)")
        if handle.kind == "chip" and not self._device_ids:
            raise RuntimeError("a chip callable is registered, but there are no devices (device_ids)")

    def _chip_callable_of(self, handle):
        """To be submitted."""
        self._expect_live(handle)
        if handle.kind != "chip":
            raise TypeError("expected a chip callable, found a Python function: submit_sub runs those")
        if handle.digest not in self._built:
            self._built[handle.digest] = _built(handle._target)
            if self._check == "off":
                _layers.count("not checked")
        return self._built[handle.digest]

    def _python_of(self, handle):
        self._expect_live(handle)
        if handle.kind != "python":
            raise TypeError("expected a Python function, found a chip callable: submit_next_level runs those")
        return handle._target

    # ------------------------------------------------------------------------ life

    def init(self, prewarm_config=None):
        """Starts the chips."""
        if self._state != "new":
            raise RuntimeError(f"init: {'the worker is ready already' if self._state == 'ready' else self._why_not()}")
        try:
            for handle in self._handles:
                self._expect_place(handle)
            if self._device_ids:
                self._check = _layers.check_mode()
                self._driver = _peal.Driver(self._device_ids, self._platform, self._check)
        except peal.Error as error:
            self._state = "failed"
            raise RuntimeError(str(error)) from None
        except RuntimeError:
            self._state = "failed"
            raise
        self._state = "ready"

    def close(self):
        if self._orch is not None:
            raise RuntimeError("close: an orchestration function is running")
        if self._state == "closed":
            return
        self._state = "closed"
        if self._driver is not None:
            self._driver.close()
            self._driver = None
        for buffer in list(self._buffers):
            buffer.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _expect_ready(self, what):
        if self._state != "ready":
            raise RuntimeError(f"{what}: {self._why_not()}")

    def _why_not(self):
        """What a worker that is not ready lacks."""
        if self._state == "new":
            return "the worker is new; init() comes first"
        return f"{_OVER[self._state]}; it cannot be used again: make a new one"

    def _chip_count(self):
        return len(self._device_ids)

    # ------------------------------------------------------------------------ runs

    def run(self, callable, args=None, config=None):
        """Level 3: `callable(orch, args, config)` submits, and what it submitted is carried out. Level 2: one task."""
        self._expect_ready("run")
        if self._orch is not None:
            raise RuntimeError("run: a run is under way")
        self._orch = orch = Orchestrator(self)
        try:
            if self.level == 2:
                orch._submit(callable, [args], [0])
            else:
                callable(orch, args, config if config is not None else CallConfig())
            orch._finish()
        finally:
            self._orch = None
            orch._end()

    def submit(self, callable, args=None, config=None):
        try:
            self.run(callable, args, config)
        except Exception as error:
            return RunHandle(error)
        return RunHandle(None)

    def _run_driver(self):
        before = self._driver.summary
        try:
            self._driver.run()
        except peal.Error as error:
            raise RuntimeError(str(error)) from None
        finally:
            # A driver's kernels are traced: what is proved of them is proved for the scalars and shapes of the run.
            for verdict, was, now in zip(("for this input only", "refuted", "undecided"), before, self._driver.summary):
                _layers.count(verdict, now - was)

    # ------------------------------------------------------------------------ memory

    def make_tensor_arg(self, tensor, shapes=None, dtype=None, *, strides=None):
        """Memory of the program as an argument. A tensor of torch can be written if it is shared."""
        if not arrays.is_on_host(tensor):
            raise ValueError("make_tensor_arg: expected a tensor on the CPU")
        access = AccessMode.READWRITE if self.level < 3 or arrays.is_shared(tensor) else AccessMode.READ
        buffer = Buffer(
            arrays.address_of(tensor),
            arrays.nbytes_of(tensor),
            address_space=AddressSpace.HOST,
            backend_kind=BackendKind.FORK_SHM if access else BackendKind.FORK_COW,
            keep=tensor,
            access=access,
        )
        shapes = tuple(tensor.shape) if shapes is None else shapes
        dtype = arrays.dtype_of(tensor.dtype) if dtype is None else dtype
        return buffer.tensor(shapes, dtype, strides)

    def create_buffer(self, nbytes):
        """Host memory that chips and functions share."""
        self._expect_ready("create_buffer")
        if nbytes <= 0:
            raise ValueError(f"create_buffer: expected a positive number of bytes, found {nbytes}")
        shm = shared_memory.SharedMemory(create=True, size=nbytes)
        base = _address_of_memory(shm.buf)
        buffer = Buffer(
            base,
            nbytes,
            address_space=AddressSpace.HOST,
            backend_kind=BackendKind.POSIX_SHM,
            shm=shm,
            release=self._release_shared,
        )
        self._buffers.append(buffer)
        return buffer

    def _release_shared(self, buffer):
        self._buffers.remove(buffer)
        try:
            buffer.shm.close()
        except BufferError:  # the program still looks at it: it goes with the last view
            pass
        buffer.shm.unlink()

    def release_buffer(self, buffer):
        if self._orch is not None:
            raise RuntimeError("release_buffer: a run is under way")
        buffer.close()

    def alloc_shared_tensor(self, shapes, dtype):
        return self.create_buffer(bytes_of_shape(shapes, dtype))

    def alloc_child_tensor(self, worker_id, shapes, dtype):
        self._expect_ready("alloc_child_tensor")
        return self._alloc_child(worker_id, shapes, dtype)

    def malloc(self, size):
        """Level 2: memory of the chip."""
        self._expect_ready("malloc")
        return self._device_buffer(0, size)

    def _alloc_child(self, worker_id, shapes, dtype):
        return self._device_buffer(worker_id, bytes_of_shape(shapes, dtype))

    def _device_buffer(self, chip, nbytes):
        if nbytes <= 0:
            raise ValueError(f"expected a positive number of bytes, found {nbytes}")
        if not 0 <= chip < self._chip_count():
            raise ValueError(f"expected workers 0..{self._chip_count() - 1}, found {chip}")
        address = self._driver.allocate(chip, nbytes)
        self._committed.setdefault(chip, {})[address] = nbytes
        return Buffer(
            address,
            nbytes,
            address_space=AddressSpace.DEVICE,
            backend_kind=BackendKind.DEVICE_MALLOC,
            owner_worker_id=chip,
        )

    def free(self, *where):
        self._expect_ready("free")
        self._free(where)

    def copy_to(self, *where):
        self._expect_ready("copy_to")
        self._copy_to(where)

    def copy_from(self, *where):
        self._expect_ready("copy_from")
        self._copy_from(where)

    def _free(self, where):
        buffer = where[0] if len(where) == 1 else None
        address = buffer.base if buffer is not None else where[1]
        try:
            self._driver.free(address)
        except peal.Error as error:
            raise ValueError(str(error)) from None
        for chip in self._committed.values():
            chip.pop(address, None)
        if buffer is not None:
            buffer.closed = True

    def _copy_to(self, where):
        if len(where) == 4:
            _, to, source, size = where
        else:
            buffer, array = where
            source, size = host_range(array)
            to = buffer.base
            _expect_room(buffer, size)
        self._copy(to, source, size)

    def _copy_from(self, where):
        if len(where) == 4:
            _, to, source, size = where
        else:
            array, buffer = where
            if not arrays.is_torch(array) and not getattr(array, "flags", _WRITABLE)["WRITEABLE"]:
                raise TypeError("expected memory that can be written")
            to, size = host_range(array)
            source = buffer.base
            _expect_room(buffer, size)
        self._copy(to, source, size)

    def _copy(self, to, source, size):
        try:
            self._driver.copy(to, source, size)
        except peal.Error as error:
            raise ValueError(str(error)) from None

    def committed_device_memory(self, worker_id=0):
        return sum(self._committed.get(worker_id, {}).values())


def _expect_room(buffer, size):
    if buffer.closed:
        raise ValueError("the buffer is closed")
    if size > buffer.nbytes:
        raise ValueError(f"{size} bytes do not fit into a buffer of {buffer.nbytes}")


def _address_of_memory(memory):
    import ctypes

    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _digest(target):
    digest = hashlib.sha256()
    if not isinstance(target, ChipCallable):
        digest.update(f"{getattr(target, '__module__', '')}.{getattr(target, '__qualname__', id(target))}".encode())
        return digest.hexdigest()
    words = [target.func_name, target.config_name, *map(str, target._signature)]
    for word in [*(w.encode() for w in words), target.binary]:
        digest.update(str(len(word)).encode() + b":" + word)
    for number, child in sorted(target._children, key=lambda each: each[0]):
        digest.update(f"{number}:".encode() + child.binary)
    return digest.hexdigest()


def _built(target):
    """A chip callable as Peal's driver takes it."""
    shim = binaries.compiled_from(target.binary, _peal.PtoShim, f"the shim of {target.func_name}")
    kernels = [
        (number, binaries.compiled_from(child.binary, _peal.PtoKernel, f"kernel {number} of {target.func_name}"))
        for number, child in target._children
    ]
    entry = target.func_name or "aicpu_orchestration_entry"
    config = target.config_name or "aicpu_orchestration_config"
    # Scalars have no place among the tensors that are copied.
    signature = [_DIRECTIONS[d] for d in target._signature if d != ArgDirection.SCALAR]
    return _peal.DriverCallable(entry, shim, entry, config, kernels, signature)


__getattr__ = _missing(__name__)
