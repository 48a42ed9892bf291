# SPDX-License-Identifier: Apache-2.0
"""The installed package: use.py PREFIX."""

import sys
from pathlib import Path

import peal
import pypto
import simpler
import simpler_setup

prefix = Path(sys.argv[1]).resolve()
for module in (peal, pypto, simpler, simpler_setup):
    assert Path(module.__file__).resolve().is_relative_to(prefix), module.__file__
assert [Path(place).is_dir() for place in peal.python_path(compat=True).split(":")] == [True, True]
assert (Path(peal.__file__).parent / "py.typed").exists() and (Path(peal.__file__).parent / "_peal.pyi").exists()
assert peal.check("allreduce", ranks=2)
assert peal.spawn(2, lambda comm: comm.rank) == [0, 1]
