# SPDX-License-Identifier: Apache-2.0
"""The worker, closed at the latest when the interpreter ends."""

from __future__ import annotations

import atexit
import sys
import weakref

from . import _peal
from ._errors import Error

_open: weakref.WeakSet[Worker] = weakref.WeakSet()


class Worker(_peal.Worker):
    __doc__ = _peal.Worker.__doc__

    def __init__(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        super().__init__(*args, **kwargs)
        _open.add(self)


@atexit.register
def _close_all() -> None:
    # Its threads run Python functions, which they cannot when there is no interpreter any more.
    for worker in list(_open):
        if worker.state == "closed":
            continue
        try:
            worker.close()
        except Error as error:  # each is closed, whatever the others say
            print(f"peal: {error}", file=sys.stderr)
