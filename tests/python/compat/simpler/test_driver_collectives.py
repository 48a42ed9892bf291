# SPDX-License-Identifier: Apache-2.0
"""Each collective as a driver: proved and golden on 1 to 4 chips, and refuted at its line without one of its syncs."""

import re
from pathlib import Path

import pytest
from driver_places import DRIVERS, lines_named, run_program

import collectives  # isort: skip
import group_allreduce  # isort: skip
import ring_allreduce  # isort: skip

# By collective and sync that is left out: what that is found as, and the line that the finding names.
STAGES = "TSTORE(RowAt(scratch, nranks * count), all);"
STAGES_ONE = "TSTORE(RowAt(scratch, count), "
MUTANTS = {
    "broadcast": [
        ("pipe hazard", "TLOAD(tile, RowAt(input, count));"),
        ("data race|pipe hazard", STAGES_ONE + "tile);"),
        ("data race", STAGES_ONE + "tile);"),
    ],
    "all_to_all": [
        ("pipe hazard|flag", STAGES + "|set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);"),
        ("data race", STAGES),
        ("flag", "set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);"),
    ],
    "all_to_all_put": [
        ("data race", "pto::comm::TPUT(to, from, block);"),
        ("deadlock", ""),
        ("data race", "pto::comm::TPUT(to, from, block);"),
    ],
    "allgather": [
        ("pipe hazard", STAGES_ONE + "block);"),
        ("data race", STAGES_ONE + "block);"),
        ("data race", STAGES_ONE + "block);"),
    ],
    "reduce_scatter": [
        ("pipe hazard", STAGES),
        ("data race", STAGES),
        ("pipe hazard", "TADD(sum, sum, block);"),
    ],
    "mesh_allreduce": [
        ("pipe hazard", STAGES_ONE + "sum);"),
        ("data race", STAGES_ONE + "sum);"),
        ("pipe hazard", "TSTORE(RowAt(output, count), sum);"),
    ],
    "two_step_allreduce": [
        ("data race", STAGES),
        ("pipe hazard", "TSTORE(RowAt(RemotePtr(context, sums, peer) + me * count, count), sum);"),
        ("data race", "TLOAD(all, RowAt(sums, nranks * count));"),
    ],
    "ring_allreduce": [
        ("pipe hazard", "TSTORE(RowAt(scratch, whole), all);"),
        ("data race", "TLOAD(theirs, RowAt(RemotePtr(context, scratch, left) + which * chunk, chunk));"),
        (
            "pipe hazard|flag",
            "TLOAD(theirs, RowAt(RemotePtr(context, scratch, left) + which * chunk, chunk));"
            "|set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);",
        ),
    ],
}


def run(collective, nranks, **options):
    devices = list(range(nranks))
    if collective == "ring_allreduce":
        return ring_allreduce.run("a2a3sim", devices, **options)
    return collectives.run("a2a3sim", devices, collective, **options)


@pytest.mark.parametrize("collective", MUTANTS)
def test_it_is_proved_and_golden_twice_in_a_row(collective, monkeypatch, capfd):
    monkeypatch.setenv("PEAL_CHECK", "error")
    for nranks in (1, 2, 3, 4):
        assert run(collective, nranks, rounds=2) == 0
    out, err = capfd.readouterr()
    assert out == "".join(2 * "".join(f"rank {r}: largest difference 0.0\n" for r in range(n)) for n in (1, 2, 3, 4))
    assert err == ""


@pytest.mark.parametrize("left_out", [1, 2, 3])
def test_a_group_without_a_sync_is_refuted(left_out, monkeypatch):
    """By the second group of a run, too, on a domain of its own."""
    monkeypatch.setenv("PEAL_CHECK", "error")
    kinds, lines = MUTANTS["ring_allreduce"][left_out - 1]
    for groups in (1, 2):
        with pytest.raises(RuntimeError) as caught:
            group_allreduce.run([0, 1, 2], groups=groups, left_out=left_out)
        words = str(caught.value)
        assert re.match(f"collective on 3 ranks is not proved: ({kinds}): ", words), words
        assert set(lines_named(words, "ring_allreduce_kernel.cpp")) & set(lines.split("|")), words


@pytest.mark.parametrize("left_out", [1, 2, 3])
@pytest.mark.parametrize("collective", MUTANTS)
def test_without_a_sync_it_is_refuted(collective, left_out, monkeypatch):
    monkeypatch.setenv("PEAL_CHECK", "error")
    kinds, lines = MUTANTS[collective][left_out - 1]
    for nranks in (2, 3, 4):
        with pytest.raises(RuntimeError) as caught:
            run(collective, nranks, left_out=left_out)
        words = str(caught.value)
        assert re.match(f"collective on {nranks} ranks is not proved: ({kinds}): ", words), words
        named = lines_named(words, f"{collective}_kernel.cpp")
        assert set(named) & set(lines.split("|")) or lines == "", (words, named)
        assert "<svg" in Path(words.split("the counterexample: ")[1]).read_text()


def test_a_wait_that_nobody_ends_is_named_where_it_stands(monkeypatch):
    monkeypatch.setenv("PEAL_CHECK", "error")
    with pytest.raises(RuntimeError, match=r"nobody can go on: rank 0 \(`wait signals\[257\] >= 1 on S`, frame.hpp:"):
        run("all_to_all_put", 2, left_out=2)


def test_poisoned_windows_change_nothing(monkeypatch):
    """What a window holds where nobody has written is not seen."""
    monkeypatch.setenv("PEAL_CHECK", "error")
    def poison(orch, worker, domain):
        nbytes = 256 // len(domain.workers) * len(domain.workers) * 4  # the cells are behind
        poisoned = worker.create_buffer(nbytes)
        poisoned.memory()[:] = b"\xff" * nbytes  # not a number
        for chip in domain.workers:
            orch.copy_to(chip, domain[chip].local_window_base, poisoned.base, nbytes)

    for collective in MUTANTS:
        assert run(collective, 3, prepare=poison) == 0
    found = group_allreduce.run([0, 1, 2], groups=2, prepare=poison)
    assert [float(row[i]) for row in found for i in (0, 254)] == 3 * [900.0, 900.0 + 9 * 254]


def test_cells_that_are_not_zero_are_refused(monkeypatch):
    """A proof begins with signals that are zero: what is copied there is not known to it."""
    monkeypatch.setenv("PEAL_CHECK", "error")

    def ring(orch, worker, domain):
        one = worker.create_buffer(4)
        one.memory()[:] = b"\x01\0\0\0"
        orch.copy_to(1, domain[1].local_window_base + 4 * collectives.MOST, one.base, 4)

    with pytest.raises(RuntimeError, match=r"bytes \[1024..1028\) of chip 1's window are a signal and hold 1: "):
        run("broadcast", 2, prepare=ring)


def test_a_driver_is_a_program():
    status, out, err = run_program(DRIVERS / "collectives.py", "allgather", "-p", "a2a3", "-d", "2-4")
    assert (status, err) == (0, "peal: kernels: 0 proved, 0 refuted, 1 for this input only\n")
    assert out == "".join(f"rank {r}: largest difference 0.0\n" for r in range(3))
