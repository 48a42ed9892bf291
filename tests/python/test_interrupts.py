# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends whatever takes long, and nothing is left behind; other threads go on meanwhile."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

import peal

COMMAND = os.environ["PEAL_COMMAND"]


def children():
    """Processes that this thread has started, and that are there."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def is_entering():
    """Whether the main thread is still on its way into the block."""
    frame = sys._current_frames()[threading.main_thread().ident]
    while frame is not None:
        if frame.f_code.co_name in ("interrupted", "__enter__"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def interrupted():
    """Presses Ctrl-C when the block has begun, which must end by it, and leave no process behind."""
    before, over = children(), threading.Event()

    def press():
        while is_entering() and not over.wait(0.001):
            pass
        if not over.wait(0.05):
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        presser = threading.Thread(target=press)
        presser.start()
        try:
            yield
        finally:
            over.set()
            presser.join()
    assert children() <= before


# Explored for as long as anybody lets it.
ENDLESS = peal.parse(
    """
kernel endless(sig: window i32[1]) {
    for i in 0..30 {
        for peer in peers { notify sig[0]@peer += 1 }
        wait sig[0] >= 1
        notify sig[0] += -1
    }
    wait sig[0] >= 30 * (nranks - 2)
}
"""
)


def test_a_check_ends():
    with interrupted():
        peal.check(ENDLESS, ranks=6, calls=1, max_states=10**12, max_seconds=10**6)


def test_making_plans_ends():
    with interrupted():
        peal.check("all_to_all", ranks=512, count=10**6, max_seconds=10**6)


def test_a_run_ends():
    with interrupted():
        peal.run("allreduce", 4, count=1000, calls=10**6)


def test_a_run_of_processes_ends():
    with interrupted():
        peal.run("allreduce", 2, count=10, calls=10**6, processes=True)


def test_a_proof_for_a_worker_ends():
    with peal.Worker(ranks=6, check=True) as worker:
        kernel = peal.DeviceKernel(ENDLESS)
        domain = worker.allocate_domain(kernel.windows(6))
        with pytest.raises(KeyboardInterrupt):
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            worker.submit_group(kernel, domain, [[domain["sig"]]] * 6)


def test_a_submit_that_waits_for_room_ends():
    go = threading.Event()
    with peal.Worker(ranks=1, max_pending=2, engine="in_process") as worker:
        first = worker.submit_host(go.wait)
        a, b = worker.alloc(0, 4), worker.alloc(0, 4)
        worker.copy(a, b, after=[first])
        with pytest.raises(KeyboardInterrupt):
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            worker.copy(a, b)
        with pytest.raises(KeyboardInterrupt):
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            worker.close()
        go.set()


def test_ranks_end_with_a_spawn():
    with interrupted():
        peal.spawn(2, lambda comm: threading.Event().wait())


def test_connecting_ends(tmp_path):
    """Rank 1 is interrupted while it waits for rank 0, who does not connect before that."""
    done = tmp_path / "done"
    program = tmp_path / "program.py"
    program.write_text(
        "import os, signal, sys, threading, time, peal\n"
        "done = sys.argv[1]\n"
        "if os.environ['PEAL_RANK'] == '0':\n"
        "    while not os.path.exists(done):\n"
        "        time.sleep(0.01)\n"
        "    sys.exit()\n"
        "try:\n"
        "    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    peal.connect()\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
        "open(done, 'w').close()\n"
    )
    run = subprocess.run(
        [COMMAND, "launch", "-n", "2", sys.executable, str(program), str(done)], capture_output=True, text=True, timeout=120
    )
    assert "interrupted" in run.stdout, run.stderr


def test_other_threads_go_on_while_ranks_run():
    """A rank waits for what a thread of the parent does after it has heard of the rank."""
    heard, said = os.pipe(), os.pipe()

    def answer():
        os.read(heard[0], 1)
        os.write(said[1], b"y")

    thread = threading.Thread(target=answer)
    thread.start()

    def body(comm):
        os.write(heard[1], b"x")
        return os.read(said[0], 1)

    assert peal.spawn(1, body) == [b"y"]
    thread.join()
