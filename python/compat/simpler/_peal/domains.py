# SPDX-License-Identifier: Apache-2.0
"""Domains of a run."""

import itertools

from peal._unsupported import Named

from ..buffer import AddressSpace, BackendKind, Buffer
from ..task_interface import ChipDomainContext

_numbers = itertools.count(1)


class DomainHandle(Named):
    """A domain; `handle[worker_id]` is what one chip knows of it."""

    def __init__(self, orch, name, workers, window_size, buffers):
        _check(orch, name, workers, window_size, buffers)
        self._orch, self.name, self.workers = orch, name, tuple(workers)
        self.allocation_id, self.released, self.freed = next(_numbers), False, False
        self._domain = orch._driver.allocate_domain(list(workers), window_size)
        self.contexts = {}
        for rank, worker in enumerate(workers):
            base, offset, pieces = self._domain.windows[rank], 0, {}
            for spec in buffers:
                pieces[spec.name] = Buffer(
                    base + offset,
                    spec.nbytes,
                    address_space=AddressSpace.DEVICE,
                    backend_kind=BackendKind.VMM_WINDOW,
                    owner_worker_id=worker,
                )
                offset += spec.nbytes
            self.contexts[worker] = ChipDomainContext(
                name, rank, len(workers), self._domain.contexts[rank], base, window_size, pieces
            )

    def __getitem__(self, worker):
        if self.released:
            raise RuntimeError(f"domain {self.name!r} has been released")
        if worker not in self.contexts:
            raise KeyError(f"worker {worker} is not in domain {self.name!r}, which has {list(self.workers)}")
        return self.contexts[worker]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def release(self):
        """Nothing new may use it; what was submitted may."""
        if not self.released:
            self.released = True
            self._orch._forget_domain(self)

    def _free(self):
        if not self.freed:
            self.freed = True
            for context in self.contexts.values():  # what they point to is the next domain's
                for buffer in context.buffers.values():
                    buffer.closed = True
            self._orch._driver.release_domain(self._domain.id)


def _check(orch, name, workers, window_size, buffers):
    workers = list(workers)
    if not workers:
        raise ValueError(f"domain {name!r}: expected at least one worker, found none")
    if len(set(workers)) != len(workers):
        raise ValueError(f"domain {name!r}: a worker is named twice in {workers}")
    for worker in workers:
        if not 0 <= worker < orch._chips:
            raise ValueError(f"domain {name!r}: expected workers 0..{orch._chips - 1}, found {worker}")
    if window_size <= 0:
        raise ValueError(f"domain {name!r}: window_size must be positive, found {window_size}")
    names = [spec.name for spec in buffers]
    if len(set(names)) != len(names):
        raise ValueError(f"domain {name!r}: two buffers have one name in {names}")
    total = sum(spec.nbytes for spec in buffers)
    if total > window_size:
        raise ValueError(f"domain {name!r}: its buffers have {total} bytes, its window {window_size}")
    if name in orch._worker.live_domains:
        raise ValueError(f"domain {name!r} is live already")
