# SPDX-License-Identifier: Apache-2.0
"""Drivers as they are, from start to end: right ones are proved and golden, wrong ones are refuted at their line."""

import pytest
from driver_places import DRIVERS, run_program

import group_allreduce  # isort: skip
import ring_allreduce  # isort: skip


@pytest.mark.parametrize("devices, nranks, platform", [("0", 1, "a2a3"), ("5-7", 3, "a2a3sim")])
def test_a_driver_is_proved_and_golden(devices, nranks, platform):
    status, out, err = run_program(DRIVERS / "ring_allreduce.py", "-p", platform, "-d", devices)
    assert (status, err) == (0, "peal: kernels: 0 proved, 0 refuted, 1 for this input only\n")
    assert out == "".join(f"rank {r}: largest difference 0.0\n" for r in range(nranks))


def test_a_run_that_nobody_checked_says_so():
    status, _, err = run_program(DRIVERS / "ring_allreduce.py", "-p", "a2a3sim", "-d", "0-1", check="off")
    assert (status, err) == (0, "peal: kernels: 1 not checked\n")


def test_wrong_usage_leaves_as_the_driver_says():
    status, _, err = run_program(DRIVERS / "ring_allreduce.py", "-d", "0-20")
    assert status == 1 and "ValueError: expected 1 to 16 devices, found 21" in err
    assert run_program(DRIVERS / "ring_allreduce.py", "--nonsense")[0] == 2


def test_two_runs_in_a_row_are_right():
    assert ring_allreduce.run("a2a3sim", [0, 1], rounds=3) == 0


@pytest.mark.parametrize("nranks", [1, 2, 3, 4])
@pytest.mark.parametrize("groups", [1, 2])
def test_groups_are_right_one_after_the_other(monkeypatch, nranks, groups):
    monkeypatch.setenv("PEAL_CHECK", "error")
    found = group_allreduce.run(list(range(nranks)), groups=groups)
    for row in found:
        for i in (0, 1, 256 // nranks * nranks - 1):
            once = nranks * i + 100 * nranks * (nranks - 1) // 2
            assert float(row[i]) == once * nranks ** (groups - 1)


def test_a_refuted_kernel_runs_if_that_is_wanted(monkeypatch, capfd):
    monkeypatch.setenv("PEAL_CHECK", "warn")
    ring_allreduce.run("a2a3sim", [0, 1], left_out=1, rounds=2)
    assert capfd.readouterr().err.count("is not proved") == 1
    monkeypatch.setenv("PEAL_CHECK", "off")
    ring_allreduce.run("a2a3sim", [0, 1], left_out=1)
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("PEAL_CHECK", "perhaps")
    with pytest.raises(RuntimeError, match="PEAL_CHECK: expected warn, error or off, found 'perhaps'"):
        ring_allreduce.run("a2a3sim", [0, 1], left_out=1)
