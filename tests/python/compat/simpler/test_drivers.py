# SPDX-License-Identifier: Apache-2.0
"""Drivers as they are, from start to end: right ones are proved and golden, wrong ones are refuted at their line."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DRIVERS = HERE / "drivers"
KERNELS = DRIVERS / "kernels"
if "torch" not in sys.modules:  # torch_drivers.py brings the real one
    sys.path.insert(0, str(HERE / "standin"))
sys.path.insert(0, str(DRIVERS))

import group_allreduce  # noqa: E402
import ring_allreduce  # noqa: E402


def run_driver(name, *options, check="error"):
    """Exit status, stdout, stderr of a driver that is started as a program."""
    environment = {**os.environ, "PEAL_CHECK": check, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-B", str(DRIVERS / name), *options], env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("devices, nranks", [("0", 1), ("0-1", 2), ("5-7", 3), ("0-3", 4)])
@pytest.mark.parametrize("platform", ["a2a3sim", "a2a3"])
def test_a_driver_is_proved_and_golden(devices, nranks, platform):
    status, out, err = run_driver("ring_allreduce.py", "-p", platform, "-d", devices)
    assert (status, err) == (0, "peal: kernels: 1 proved, 0 refuted, 0 for this input only\n")
    assert out == "".join(f"rank {r}: largest difference 0.0\n" for r in range(nranks))


def test_wrong_usage_leaves_as_the_driver_says():
    status, _, err = run_driver("ring_allreduce.py", "-d", "0-20")
    assert status == 1 and "ValueError: expected 1 to 16 devices, found 21" in err
    assert run_driver("ring_allreduce.py", "--nonsense")[0] == 2


def test_two_runs_in_a_row_are_right():
    assert ring_allreduce.run("a2a3sim", [0, 1], rounds=3) == 0


@pytest.mark.parametrize("nranks", [1, 2, 4])
@pytest.mark.parametrize("groups", [1, 2])
def test_groups_are_right_one_after_the_other(monkeypatch, nranks, groups):
    monkeypatch.setenv("PEAL_CHECK", "error")
    found = group_allreduce.run(list(range(nranks)), groups=groups)
    for row in found:
        for i in (0, 1, 255):
            once = nranks * i + 100 * nranks * (nranks - 1) // 2
            assert float(row[i]) == once * nranks ** (groups - 1)


def without(tmp_path, kernel, number):
    """A copy of a kernel without its number-th line that ends in SYNC; and that line."""
    lines = (KERNELS / kernel).read_text().split("\n")
    at = [i for i, line in enumerate(lines) if line.endswith("// SYNC")][number]
    lines[at] = ""
    changed = tmp_path / kernel
    changed.write_text("\n".join(lines))
    (tmp_path / "frame.hpp").write_text((KERNELS / "frame.hpp").read_text())
    return str(changed), at + 1


# Which line that ends in SYNC is left out, on how many ranks, what that is found as, and a line that the report names.
REMOTE_LOAD = "TLOAD(theirs, RowAt(RemotePtr(context, scratch, left) + which * chunk, chunk));"
MUTANTS = [
    *((0, n, "pipe hazard", "TSTORE(RowAt(scratch, whole), all);") for n in (2, 3, 4)),
    *((1, n, "data race", REMOTE_LOAD) for n in (2, 3, 4)),
    (2, 2, "pipe hazard", REMOTE_LOAD),
    *((2, n, "flag", "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);") for n in (3, 4)),
]


@pytest.mark.parametrize("number, nranks, kind, named", MUTANTS)
def test_a_kernel_without_a_sync_is_refuted(tmp_path, monkeypatch, number, nranks, kind, named):
    monkeypatch.setenv("PEAL_CHECK", "error")
    kernel, _ = without(tmp_path, "ring_allreduce_kernel.cpp", number)
    with pytest.raises(RuntimeError) as caught:
        ring_allreduce.run("a2a3sim", list(range(nranks)), kernel=kernel)
    words = str(caught.value)
    assert f"ring_allreduce on {nranks} ranks is not proved: {kind}: " in words
    source = Path(kernel).read_text().split("\n")
    lines = [source[int(n) - 1].strip() for n in re.findall(r"line (\d+)", words)]
    assert named in lines, words
    page = words.split("the counterexample: ")[1]
    assert "<svg" in Path(page).read_text()


def test_a_refuted_kernel_runs_if_that_is_wanted(tmp_path, monkeypatch, capfd):
    kernel, _ = without(tmp_path, "ring_allreduce_kernel.cpp", 0)
    monkeypatch.setenv("PEAL_CHECK", "warn")
    ring_allreduce.run("a2a3sim", [0, 1], kernel=kernel, rounds=2)
    assert capfd.readouterr().err.count("is not proved") == 1
    monkeypatch.setenv("PEAL_CHECK", "off")
    ring_allreduce.run("a2a3sim", [0, 1], kernel=kernel)
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("PEAL_CHECK", "perhaps")
    with pytest.raises(RuntimeError, match="PEAL_CHECK: expected warn, error or off, found 'perhaps'"):
        ring_allreduce.run("a2a3sim", [0, 1], kernel=kernel)
