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


def test_the_console_block_of_the_page():
    """But for what a build is: that these targets are there."""
    page = (ROOT / "docs" / "python.md").read_text()
    [block] = re.findall(r"^```console\n(.*?)^```", page, re.M | re.S)
    build, install, use = [line.removeprefix("$ ").partition("#")[0].strip() for line in block.splitlines()]
    for command in (build.replace("make ", "make -n "), install.replace("pip install", f"{sys.executable} -m pip install --help")):
        subprocess.run(command, shell=True, cwd=ROOT, check=True, capture_output=True)
    assert (ROOT / "pyproject.toml").exists()
    use = use.replace("build/peal", COMMAND).replace("python3", sys.executable)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(use, shell=True, cwd=ROOT / "examples" / "python", env=environment, capture_output=True, text=True)
    assert (done.returncode, EXPECTED["prove.py"] in done.stdout) == (0, True), done.stderr


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
