# SPDX-License-Identifier: Apache-2.0
"""Workers for scenes."""

import contextlib

from simpler.worker import CallableHandle, Worker

from .callables import registered
from .cases import largest


@contextlib.contextmanager
def for_scene(cls, cases, platform, devices, shared=None):
    """A worker that knows the callables of a class, which finds their handles in `_st_chip_handles` and
    `_st_sub_handles`. `shared` is one of level 2 that others use, too."""
    worker = shared or make(cls, cases, platform, devices)
    handles = ()
    try:
        cls._st_chip_handles, cls._st_sub_handles = registered(worker, cls, platform)
        known = [*cls._st_chip_handles.values(), *cls._st_sub_handles.values()]
        handles = [each for each in known if isinstance(each, CallableHandle)]
        if shared is None:
            worker.init()
        yield worker
    finally:
        cls._st_chip_handles, cls._st_sub_handles = {}, {}
        if shared is None:
            worker.close()
        else:
            for handle in handles:
                worker.unregister(handle)


def make(cls, cases, platform, devices):
    if cls._st_level == 2:
        return Worker(level=2, platform=platform, runtime=cls._st_runtime, device_id=devices[0])
    return Worker(
        level=int(cls._st_level),
        platform=platform,
        runtime=cls._st_runtime,
        device_ids=devices[: largest(cases, "device_count", 1)],
        num_sub_workers=largest(cases, "num_sub_workers", 0),
    )
