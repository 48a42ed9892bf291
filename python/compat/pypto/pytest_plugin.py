# SPDX-License-Identifier: Apache-2.0
"""Options and fixtures that test files of this kind expect: `pytest -p pypto.pytest_plugin --device=0-3`."""

import pytest
from peal import _layers
from peal._layers import PLATFORMS
from peal._unsupported import missing as _missing

from .runtime import RunConfig

PROFILING = tuple("enable_chip_swimlane enable_dump_args enable_pmu enable_dep_gen enable_scope_stats compile_profiling".split())
SWITCHES = ("--codegen-only", "--save-kernels", "--dump-passes", *(f"--{name.replace('_', '-')}" for name in PROFILING))
VALUES = ("--kernels-dir", "--strategy", "--memory-planner")


def pytest_addoption(parser):
    group = parser.getgroup("pypto", "programs of kernels, on Peal")
    group.addoption("--platform", default="a2a3", help="one or several of " + ", ".join(PLATFORMS))
    group.addoption("--device", default="0", help="devices: 0-3, 0,1 or mixtures of both")
    for name in SWITCHES:
        group.addoption(name, action="store_true", default=False, help="accepted and ignored")
    for name in VALUES:
        group.addoption(name, default=None, help="accepted and ignored")


def device_list(text):
    """Numbers from "0-3", "0,1" and mixtures; what comes twice counts once."""
    found = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise pytest.UsageError(f"--device: expected numbers and ranges such as 0-3 or 0,1; found {text!r}")
        found.extend(range(int(first), int(last or first) + 1))
    return list(dict.fromkeys(found))


def platforms_of(text):
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in PLATFORMS:
            raise pytest.UsageError(f"--platform: expected some of {', '.join(PLATFORMS)}; found {name!r}")
    return names


def pytest_configure(config):
    config.addinivalue_line("markers", "platforms(*names): runs on these platforms only")
    config.addinivalue_line("markers", "slow: takes long")
    config.addinivalue_line("markers", "device_batch: needs several devices")
    device_list(config.getoption("--device"))
    platforms_of(config.getoption("--platform"))


def pytest_runtest_setup(item):
    chosen = platforms_of(item.config.getoption("--platform"))
    for mark in item.iter_markers("platforms"):
        if not set(chosen) & set(mark.args):
            pytest.skip(f"for {', '.join(mark.args)}; this is {', '.join(chosen)}")


@pytest.fixture(scope="session")
def test_config(request):
    option = request.config.getoption
    return RunConfig(platform=platforms_of(option("--platform"))[0], **{name: option(name) for name in PROFILING})


@pytest.fixture(scope="session")
def device_ids(request):
    return device_list(request.config.getoption("--device"))


@pytest.fixture(autouse=True)
def _program_build_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path))


def pytest_terminal_summary(terminalreporter):
    line = _layers.closing_line()
    if line:
        terminalreporter.write_line(line)


__getattr__ = _missing(__name__)
