# SPDX-License-Identifier: Apache-2.0
"""Ranks that are started from Python."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from . import _peal
from ._errors import Error

Result = TypeVar("Result")


def spawn(ranks: int, function: Callable[..., Result], *args: Any) -> list[Result]:
    """Runs function(communicator, *args) in so many processes, one rank each, and returns what
    each of them returned, by rank.

    The processes are forked, so that the function and its arguments may be anything; what it
    returns must be something that pickle knows. When a rank raises an exception or dies, the others
    get an error, and are killed if they do not end then; the exception of that rank is raised here.
    Other threads of this program go on meanwhile, and Ctrl-C ends the ranks.
    """
    files = [os.memfd_create(f"peal-rank-{rank}") for rank in range(ranks)]

    def body(communicator: _peal.Communicator) -> None:
        try:
            value = function(communicator, *args)
            _write(files[communicator.rank], True, value)
        except BaseException as error:
            _write(files[communicator.rank], False, error)
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()

    sys.stdout.flush()
    sys.stderr.flush()
    try:
        status = _peal.fork_ranks(ranks, body)
        outcomes = [_read(file) for file in files]
    finally:
        for file in files:
            os.close(file)
    if status == 0:
        return [value for _, value in outcomes]
    raise _reason(status, outcomes)


def _write(file: int, is_fine: bool, value: object) -> None:
    import pickle

    try:
        data = pickle.dumps((is_fine, value))
    except Exception as trouble:
        if is_fine:
            raise
        data = pickle.dumps((False, Error(f"{type(value).__name__}: {value} ({trouble})", "wrong")))
    with open(os.dup(file), "wb") as stream:
        stream.write(data)


def _read(file: int) -> tuple[bool | None, Any]:
    os.lseek(file, 0, os.SEEK_SET)
    with open(os.dup(file), "rb") as stream:
        data = stream.read()
    if not data:
        return None, None
    import pickle

    outcome: tuple[bool, Any] = pickle.loads(data)
    return outcome


def _reason(status: int, outcomes: list[tuple[bool | None, Any]]) -> BaseException:
    """The exception that others follow from: not an Error of Peal's, if there is such."""
    raised = [(rank, value) for rank, (is_fine, value) in enumerate(outcomes) if is_fine is False]
    killed = [rank for rank, (is_fine, _) in enumerate(outcomes) if is_fine is None]
    for rank, value in raised:
        if not isinstance(value, Error):
            value.add_note(f"raised by rank {rank} of {len(outcomes)}")
            return value  # type: ignore[no-any-return]
    if status == 128 + signal.SIGINT:
        return KeyboardInterrupt()
    if raised and not killed:
        return raised[0][1]  # type: ignore[no-any-return]
    how = f"was killed by signal {status - 128}" if status > 128 else f"ended with status {status}"
    who = ", ".join(map(str, killed)) if killed else "?"
    return Error(f"rank {who} of {len(outcomes)} {how}", "wrong")
