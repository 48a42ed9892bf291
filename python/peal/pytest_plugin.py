# SPDX-License-Identifier: Apache-2.0
"""Proofs in tests. Load it with `-p peal.pytest_plugin`, or `pytest_plugins = ["peal.pytest_plugin"]`
in conftest.py.

A test proves with `prove(...)`, which takes what peal.check() takes and fails the test unless
everything is proved, or asserts what peal.check() returns. Either way the counterexample is in the
report of the test, and `--peal-html DIR` keeps it as a page with its picture.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from . import _targets
from ._targets import Report

_refuted: list[Report] = []  # in the test at hand


def _note(report: Report) -> None:
    if not report:
        _refuted.append(report)


def pytest_addoption(parser: Any) -> None:
    parser.getgroup("peal").addoption(
        "--peal-html", metavar="DIR", help="keep the counterexamples of failed tests as pages here"
    )


def pytest_configure() -> None:
    _targets.listeners.append(_note)


def pytest_unconfigure() -> None:
    _targets.listeners.remove(_note)


@pytest.fixture
def prove() -> Callable[..., Report]:
    """peal.check(), which fails the test unless everything is proved."""

    def checked(*args: Any, **options: Any) -> Report:
        __tracebackhide__ = True
        report = _targets.check(*args, **options)
        if not report:
            pytest.fail(report.text, pytrace=False)
        return report

    return checked


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    outcome = yield
    result = outcome.get_result()
    if result.when == "setup":
        _refuted.clear()
    if not result.failed:
        return
    told = str(result.longrepr)
    for number, report in enumerate(_refuted):
        if report.text.strip() not in told:
            result.sections.append(("counterexample", report.text))
        directory = item.config.getoption("--peal-html")
        if directory:
            result.sections.append(("page", str(_keep(Path(directory), item.nodeid, number, report))))


def _keep(directory: Path, test: str, number: int, report: Report) -> Path:
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", test).strip("-")
    page = directory / f"{name}{f'-{number}' if number else ''}.html"
    directory.mkdir(parents=True, exist_ok=True)
    page.write_text(report.html(), encoding="utf-8")
    return page
