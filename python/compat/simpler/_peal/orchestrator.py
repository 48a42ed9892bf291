# SPDX-License-Identifier: Apache-2.0
"""What a function that is given to `Worker.run` works with: it submits, and nothing runs before it returns."""

from contextlib import contextmanager

import peal
from peal._unsupported import Named

from ..buffer import AddressSpace, BackendKind, Buffer, ContinuousTensor, Tensor
from ..task_interface import TaskArgs
from . import arrays
from .domains import DomainHandle
from .elements import element
from .tensors import lowered, range_of


class Orchestrator(Named):
    def __init__(self, worker):
        self._worker, self._driver, self._chips = worker, worker._driver, worker._chip_count()
        self._domains, self._keeps, self._is_over, self._has_submitted = [], [], False, False
        self._allocated = []
        self._waiting = 0  # chip tasks that were submitted and have not run

    # ------------------------------------------------------------------------ tasks

    def submit_next_level(self, handle, args, config=None, *, worker):
        """One chip's task."""
        if isinstance(worker, bool) or not isinstance(worker, int):
            raise TypeError(f"worker: expected an int, found {type(worker).__name__}")
        if worker == -1:
            worker = 0  # any
        if worker < 0:
            raise ValueError(f"worker: expected a chip's number, found {worker}")
        self._submit(handle, [args], [worker])

    def submit_next_level_group(self, handle, args_list, config=None, *, workers):
        """A task of several chips: who waits for one of them waits for all."""
        workers, args_list = list(workers), list(args_list)
        if len(workers) != len(args_list):
            raise ValueError(f"expected arguments for {len(workers)} workers, found {len(args_list)}")
        if len(set(workers)) != len(workers):
            raise ValueError(f"a worker is named twice in {workers}")
        self._submit(handle, args_list, workers)

    def submit_sub(self, handle, args=None):
        """A registered Python function, on this thread, after all that was submitted before."""
        self.submit_sub_group(handle, [args])

    def submit_sub_group(self, handle, args_list):
        self._expect_running()
        function = self._worker._python_of(handle)
        views = [SubArgs(args) for args in args_list]
        self._has_submitted = True
        self._flush()
        for view in views:
            try:
                function(view)
            except Exception as error:
                raise RuntimeError(f"sub task {getattr(function, '__name__', 'function')} failed: {error}") from error

    def _submit(self, handle, args_list, workers):
        self._expect_running()
        callable = self._worker._chip_callable_of(handle)
        for worker in workers:
            if not 0 <= worker < self._chips:
                raise ValueError(f"expected workers 0..{self._chips - 1}, found {worker}")
        arguments = [lowered(args) for args in args_list]
        self._has_submitted = True
        try:
            self._driver.submit(callable, workers, arguments)
        except peal.Error as error:
            raise ValueError(str(error)) from error
        self._waiting += 1
        self._keeps.append(args_list)

    # ------------------------------------------------------------------------ memory

    def allocate_domain(self, *, name, workers, window_size, buffers=()):
        """Zeroed windows on these chips, for this run."""
        self._expect_running()
        self._expect_first("allocate_domain")
        if self._worker.level < 3:
            raise RuntimeError("allocate_domain: domains are for workers of level 3")
        handle = DomainHandle(self, name, list(workers), window_size, list(buffers))
        self._domains.append(handle)
        self._worker.live_domains[name] = handle
        return handle

    def release_domain(self, handle):
        handle.release()

    def _forget_domain(self, handle):
        self._worker.live_domains.pop(handle.name, None)

    def alloc(self, shape, dtype):
        """Host memory for this run: given back at its end. It may be added to a task as the tensor that it is."""
        self._expect_running()
        buffer = self._worker.alloc_shared_tensor(shape, dtype)
        buffer._whole = buffer.tensor(shape, dtype)
        self._allocated.append(buffer)
        return buffer

    def alloc_child_tensor(self, worker_id, shapes, dtype):
        """Memory of a chip, until it is freed."""
        self._expect_running()
        self._expect_first("alloc_child_tensor")
        return self._worker._alloc_child(worker_id, shapes, dtype)

    def malloc(self, worker_id, size):
        """Memory of a chip; its address."""
        self._expect_running()
        return self._driver.allocate(worker_id, size)

    def free(self, *where):
        """free(buffer), or free(worker_id, address)."""
        self._expect_running()
        self._expect_first("free")
        self._worker._free(where)

    def copy_to(self, *where):
        """copy_to(buffer, source), or copy_to(worker_id, address, source_address, size)."""
        self._expect_running()
        self._expect_first("copy_to")
        self._worker._copy_to(where)

    def copy_from(self, *where):
        """copy_from(target, buffer), or copy_from(worker_id, target_address, address, size)."""
        self._expect_running()
        self._expect_first("copy_from")
        self._worker._copy_from(where)

    def committed_device_memory(self, worker_id=0):
        return self._worker.committed_device_memory(worker_id)

    # ------------------------------------------------------------------------ scopes

    @contextmanager
    def scope(self):
        """The life of intermediate memory; no effect on order."""
        yield self

    def scope_begin(self):
        pass

    def scope_end(self):
        pass

    # ------------------------------------------------------------------------ the run

    def _expect_running(self):
        if self._is_over:
            raise RuntimeError("the orchestration function is over: its orchestrator can no longer be used")

    def _expect_first(self, what):
        if self._has_submitted:
            raise RuntimeError(f"{what} must come before the first submit of a run")

    def _flush(self):
        if self._waiting:
            self._waiting = 0
            self._worker._run_driver()

    def _finish(self):
        self._flush()

    def _end(self):
        self._is_over = True
        self._driver.stop()
        for handle in self._domains:
            handle.release()
            handle._free()
        for buffer in self._allocated:
            buffer.close()


class SubArgs(Named, list):
    """What a Python function is given: views of its tensors, and scalars."""

    def __init__(self, args):
        args = TaskArgs() if args is None else args
        super().__init__(SubTensor(tensor) for tensor in args._tensors)
        self._scalars = list(args._scalars)

    def tensor_count(self):
        return len(self)

    def scalar_count(self):
        return len(self._scalars)

    def scalar(self, i):
        return self._scalars[i]


class SubTensor(Named):
    def __init__(self, tensor):
        if isinstance(tensor, ContinuousTensor):
            is_device, read_only, strides = tensor.child_memory, False, None
        else:
            is_device = tensor.buffer.address_space == AddressSpace.DEVICE
            read_only, strides = tensor.buffer.access == 0, tensor.strides
        if is_device:
            raise ValueError("submit_sub: a Python function is given host memory, found memory of a chip")
        begin, end = range_of(tensor)
        memory = Buffer(begin, end - begin, address_space=AddressSpace.HOST, backend_kind=BackendKind.FORK_SHM).memory()
        self._keep = tensor
        self.buffer = memory.toreadonly() if read_only else memory
        self.shapes, self.strides, self.dtype = tensor.shapes, strides, int(tensor.dtype)


def host_range(array, nbytes=None):
    """(address, bytes) of the host's side of a copy."""
    if isinstance(array, Buffer):
        return array.base, array.nbytes
    if isinstance(array, (Tensor, ContinuousTensor)):
        begin, end = range_of(array)
        return begin, end - begin
    return arrays.range_of(array)


def bytes_of_shape(shapes, dtype):
    count = 1
    for n in [shapes] if isinstance(shapes, int) else shapes:
        count *= int(n)
    return count * element(dtype)[1]
