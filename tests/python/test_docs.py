# SPDX-License-Identifier: Apache-2.0
"""What the page shows runs, and so do the examples."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import peal
from peal._targets import check

ROOT = Path(__file__).parents[2]
COMMAND = os.environ["PEAL_COMMAND"]


def test_the_blocks_of_the_page(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "python.md").read_text()
    names: dict = {}
    blocks = list(re.finditer(r"^```python\n(.*?)^```", page, re.M | re.S))
    assert len(blocks) >= 10
    for block in blocks:
        line = page.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block.group(1), "docs/python.md", "exec"), names)
    names["test_shift"](lambda *a, **k: check(*a, **k).raise_if_violated())
    assert "error: 'y' is not defined" in capsys.readouterr().out


EXPECTED = {
    "prove.py": "data race on data@1[0;3], between lines 9 and 5:\n",
    "run_kernel.py": "the mean of four ranks: <peal.Run golden: not compared, proof: proved, ",
    "driver.py": "4 devices: the mean, 2.5, everywhere\n",
    "sweep.py": "ring ",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_examples(name, tmp_path):
    picture = tmp_path / "picture.svg"
    arguments = [str(picture)] if name in ("prove.py", "sweep.py") else []
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "python" / name), *arguments],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert EXPECTED[name] in done.stdout
    if arguments:
        assert picture.read_text().startswith("<svg")


def test_the_training_step():
    done = subprocess.run([COMMAND, "launch", "-n", "2", sys.executable,
                           str(ROOT / "examples" / "python" / "training_step.py")],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 ranks, 200 steps: largest error ")


def test_every_example_is_run():
    files = {path.name for path in (ROOT / "examples" / "python").glob("*.py")}
    assert files == {*EXPECTED, "training_step.py"}
