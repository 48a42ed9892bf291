# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from pathlib import Path


def python_path(compat: bool = False) -> str:
    """What PYTHONPATH must hold so that others find this package; with `compat`, the packages
    that stand in for those of other projects, too. `peal python-path [--compat]` prints the same."""
    package = Path(__file__).absolute().parent
    places = [package.parent]
    if compat:
        beside, inside = package.parent / "compat", package / "compat"
        places.append(beside if beside.is_dir() else inside)
    return os.pathsep.join(map(str, places))
