# SPDX-License-Identifier: Apache-2.0
"""Options, marks and fixtures that scene tests and tests of drivers expect:
`pytest -p simpler_setup.pytest_plugin --platform a2a3sim --device 0-3`."""

import contextlib

import pytest
from peal import _layers
from peal._unsupported import Named as _Named, missing as _missing

from ._scenes.cases import MANUAL, Chosen, is_manual_for, is_scene, largest
from ._scenes.workers import for_scene, make
from .parallel_scheduler import device_range_to_list
from .platform_info import PLATFORMS

IGNORED = {
    "--exclude-level": "store",
    "--max-parallel": "store",
    "--enable-chip-swimlane": "store_true",
    "--dump-args": "store_true",
    "--enable-dep-gen": "store_true",
    "--enable-pmu": "store_true",
    "--enable-scope-stats": "store_true",
    "--enable-swimlane-overhead": "store_true",
    "--sanitizer": "store",
    "--require-pto-isa": "store_true",
    "--pto-session-timeout": "store",
}
MARKS = (
    "platforms(list): runs on these platforms only",
    "runtime(name): needs this runtime",
    "device_count(n): needs so many devices",
    "manual(platforms=None): runs only if asked for, on these platforms or on all",
    "requires_hardware: needs a device; Peal's will do",
    "sdma(worker_workspace=True): accepted and ignored",
    "network1_remote_device_count(n): accepted and ignored",
)


def pytest_addoption(parser):
    group = parser.getgroup("simpler", "scene tests and drivers, on Peal")
    group.addoption("--platform", default=None, choices=PLATFORMS)
    group.addoption("--device", default="0", help="devices: 0, 0-3 or 0,2-4")
    group.addoption("--case", action="append", default=[], help="case, Class::case or Class::")
    group.addoption("--manual", choices=MANUAL, default="exclude")
    group.addoption("--runtime", default=None, help="only tests for this runtime")
    group.addoption("--level", type=int, default=None, help="only scenes of this level")
    group.addoption("--rounds", type=int, default=1)
    group.addoption("--skip-golden", action="store_true", default=False)
    for name, action in IGNORED.items():
        group.addoption(name, action=action, default=None, help="accepted and ignored")


def pytest_configure(config):
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    try:
        device_range_to_list(config.getoption("--device"))
    except ValueError:
        raise pytest.UsageError(
            f"--device: expected numbers and ranges such as 0, 0-3 or 0,2-4; found {config.getoption('--device')!r}"
        ) from None


# ---------------------------------------------------------------------------- selection


def pytest_collection_modifyitems(config, items):
    if config.getoption("--platform") is None:
        return  # the fixtures say so
    kept, dropped = [], []
    for item in items:
        (kept if is_wanted(item, config) else dropped).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def is_wanted(item, config):
    runtime, level = config.getoption("--runtime"), config.getoption("--level")
    cls = getattr(item, "cls", None)
    if is_scene(cls):
        return (
            runtime in (None, cls._st_runtime)
            and level in (None, cls._st_level)
            and Chosen.by_options(config).cases_of(cls) != []
        )
    return _fits_marks(item, config) and (level is None or "st_platform" not in item.fixturenames)


def _fits_marks(item, config):
    platform, runtime = config.getoption("--platform"), config.getoption("--runtime")
    for mark in item.iter_markers("platforms"):
        if platform not in mark.args[0]:
            return False
    for mark in item.iter_markers("runtime"):
        if runtime not in (None, mark.args[0]):
            return False
    manual = item.get_closest_marker("manual")
    named = manual and (manual.args[0] if manual.args else manual.kwargs.get("platforms"))
    is_manual = manual is not None and (not named or is_manual_for(named, platform))
    mode = config.getoption("--manual")
    return mode == "include" or is_manual == (mode == "only")


# ---------------------------------------------------------------------------- fixtures


class DevicePool(_Named):
    """The devices that were named, each in use once."""

    def __init__(self, ids):
        self._free = list(ids)

    def allocate(self, count):
        """So many of them, or none if there are fewer."""
        if count > len(self._free):
            return []
        taken, self._free = self._free[:count], self._free[count:]
        return taken

    def release(self, ids):
        self._free = sorted([*self._free, *ids])

    @contextlib.contextmanager
    def lent(self, count):
        taken = self.allocate(count)
        if not taken:
            pytest.fail(f"needs {count} devices; --device has {len(self._free)} that are free", pytrace=False)
        try:
            yield taken
        finally:
            self.release(taken)


@pytest.fixture(scope="session")
def st_platform(request):
    platform = request.config.getoption("--platform")
    if platform is None:
        pytest.skip("no --platform was given")
    return platform


@pytest.fixture(scope="session")
def device_pool(request):
    return DevicePool(device_range_to_list(request.config.getoption("--device")))


@pytest.fixture
def st_device_ids(request, device_pool):
    mark = request.node.get_closest_marker("device_count")
    with device_pool.lent(mark.args[0] if mark else 1) as ids:
        yield ids


@pytest.fixture(scope="session")
def _st_chip_workers():
    """Workers of level 2, by platform and runtime."""
    workers = {}
    yield workers
    for worker in workers.values():
        worker.close()


@pytest.fixture
def st_worker(request, st_platform, device_pool, _st_chip_workers):
    cls = request.cls
    if not is_scene(cls):
        pytest.fail("st_worker is for scenes: classes with @scene_test", pytrace=False)
    cases = Chosen.by_options(request.config).cases_of(cls)
    with device_pool.lent(1 if cls._st_level == 2 else largest(cases, "device_count", 1)) as ids:
        shared = None
        if cls._st_level == 2:
            key = (st_platform, cls._st_runtime)
            if key not in _st_chip_workers:
                _st_chip_workers[key] = make(cls, cases, st_platform, ids)
                _st_chip_workers[key].init()
            shared = _st_chip_workers[key]
        with for_scene(cls, cases, st_platform, ids, shared) as worker:
            yield worker


def pytest_terminal_summary(terminalreporter):
    line = _layers.closing_line()
    if line:
        terminalreporter.write_line(line)


__getattr__ = _missing(__name__)
