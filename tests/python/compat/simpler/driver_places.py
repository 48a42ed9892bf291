# SPDX-License-Identifier: Apache-2.0
"""Where drivers are, for tests: importing it makes them importable, on torch or what stands in for it."""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
DRIVERS, SCENES = HERE / "drivers", HERE / "scenes"
KERNELS = DRIVERS / "kernels"
if "torch" not in sys.modules:  # torch_drivers.py brings the real one
    sys.path.insert(0, str(HERE / "standin"))
sys.path.insert(0, str(DRIVERS))


def run_program(*command, check="error"):
    """Exit status, stdout, stderr of a Python program."""
    environment = {**os.environ, "PEAL_CHECK": check, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-B", *map(str, command)], env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def lines_named(words, kernel):
    """What stands in the lines of a kernel that a finding names."""
    source = (KERNELS / kernel).read_text().split("\n")
    return [source[int(n) - 1].strip() for n in re.findall(r"(?:, line |" + re.escape(kernel) + r":)(\d+)", words)]
