# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os.path


def python_path(compat: bool = False) -> str:
    """What PYTHONPATH must hold so that others find this package; with `compat`, the packages
    that stand in for those of other projects, too. `peal python-path [--compat]` prints the same."""
    package = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.dirname(package)]
    if compat:
        beside, inside = (os.path.join(each, "compat") for each in (places[0], package))
        places.append(beside if os.path.isdir(beside) else inside)
    return os.pathsep.join(places)
