# SPDX-License-Identifier: Apache-2.0
"""What the host does beside dispatching kernels: Python of its own between them, memory of its own, calls that go on by themselves."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from frame import compiled, numbers
from pypto.language.parser.diagnostics import UnsupportedFeatureError
from pypto.runtime.distributed_runner import _tensor_from_continuous

N = 12


def relay(nr, sub_work):
    """Everybody doubles into memory of the host, a sub-worker sees all of it, and everybody sends on what it left."""

    @pl.program
    class Relay:
        @pl.function(type=pl.FunctionType.InCore)
        def double(self, x: pl.Tensor[[1, N], pl.FP32], w: pl.Out[pl.Tensor[[1, N], pl.FP32]]):
            w = pl.store(pl.mul(pl.load(x, [0, 0], [1, N]), 2.0), [0, 0], w)
            return w

        @pl.function(type=pl.FunctionType.InCore)
        def send(
            self,
            w: pl.Tensor[[1, N], pl.FP32],
            y: pl.Out[pl.Tensor[[1, N], pl.FP32]],
            data: pld.DistributedTensor[[1, N], pl.FP32],
            sig: pld.DistributedTensor[[nr, 1], pl.INT32],
            me: pl.Scalar[pl.INT32],
        ):
            pld.tensor.put(data, (me + 1) % nr, w)
            pld.tensor.barrier(sig)
            y = pl.store(pl.load(data, [0, 0], [1, N]), [0, 0], y)
            return y

        @pl.function(type=pl.FunctionType.Orchestration)
        def first(self, x: pl.Tensor[[1, N], pl.FP32], w: pl.Out[pl.Tensor[[1, N], pl.FP32]]):
            return self.double(x, w)

        @pl.function(type=pl.FunctionType.Orchestration)
        def second(
            self,
            w: pl.Tensor[[1, N], pl.FP32],
            y: pl.Out[pl.Tensor[[1, N], pl.FP32]],
            data: pld.DistributedTensor[[1, N], pl.FP32],
            sig: pld.DistributedTensor[[nr, 1], pl.INT32],
            me: pl.Scalar[pl.INT32],
        ):
            return self.send(w, y, data, sig, me)

        add = sub_work

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, xs: pl.Tensor[[nr, 1, N], pl.FP32], ys: pl.Out[pl.Tensor[[nr, 1, N], pl.FP32]]):
            data_buf = pld.alloc_window_buffer(N * pl.FP32.get_byte())
            sig_buf = pld.alloc_window_buffer(nr * pl.INT32.get_byte())
            middle = pl.create_tensor([nr, 1, N], pl.FP32, init_value=3)
            for r in pl.range(pld.world_size()):
                self.first(xs[r], middle[r], device=r)
            self.add(middle, 5)
            for r in pl.range(pld.world_size()):
                data = pld.window(data_buf, [1, N], dtype=pl.FP32)
                sig = pld.window(sig_buf, [nr, 1], dtype=pl.INT32)
                self.second(middle[r], ys[r], data, sig, r, device=r)
            return ys

    return Relay


@pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
def add(middle: pl.Tensor[[pl.dynamic("NR"), 1, N], pl.FP32], by: pl.Scalar[pl.INT32]):
    """Ordinary Python, on the whole."""
    middle += sum(float(row.sum()) for row in middle) + by


def bound_later():
    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def add(middle: pl.Tensor[[pl.dynamic("NR"), 1, N], pl.FP32], by: pl.Scalar[pl.INT32]):
        """Somebody else says."""
        ...

    return add


def expected(xs, by=5):
    return np.roll(2 * xs + (2 * xs).sum() + by, 1, axis=0)


@pytest.mark.parametrize("nr", [1, 2, 3])
def test_sub_workers_run_between_what_devices_do(nr):
    made = compiled(relay(nr, add), nr)
    assert {v.verdict for v in made.verdicts} == {"proved"}
    xs, ys = numbers((nr, 1, N)), np.zeros((nr, 1, N), np.float32)
    for _ in range(2):  # memory of the host is new at every call
        made(xs, ys)
        np.testing.assert_array_equal(ys, expected(xs))


def test_a_sub_worker_without_a_body_is_bound_when_it_is_prepared():
    program = relay(2, bound_later())
    assert program["add"].requires_runtime_binding and not program["host"].requires_runtime_binding
    made = compiled(program, 2)
    xs, ys = numbers((2, 1, N)), np.zeros((2, 1, N), np.float32)
    with pytest.raises(ValueError, match="sub-worker 'add' must be bound"):
        made(xs, ys)
    with pytest.raises(ValueError, match="not sub-workers"):
        made.prepare(callbacks={"first": print})

    def work(args):
        tensor = _tensor_from_continuous(args[0])
        tensor += tensor.sum() + args[1]

    with made.prepare(callbacks={"add": work}) as worker:
        worker(xs, ys)
    np.testing.assert_array_equal(ys, expected(xs))


def test_what_a_sub_worker_raises_is_raised_by_the_call():
    def fail(args):
        raise KeyError("nothing there")

    made = compiled(relay(2, bound_later()), 2)
    xs, ys = numbers((2, 1, N)), np.zeros((2, 1, N), np.float32)
    with made.prepare(callbacks={"add": fail}) as worker:
        with pytest.raises(KeyError, match="nothing there"):
            worker(xs, ys)


def test_calls_that_go_on_by_themselves():
    """Two are under way; a third waits for the oldest."""
    held, entered = threading.Event(), threading.Semaphore(0)

    def work(args):
        entered.release()
        held.wait()
        args[0][...] += args[0].sum() + args[1]

    made = compiled(relay(2, bound_later()), 2)
    xs = numbers((2, 1, N))
    results = [np.zeros((2, 1, N), np.float32) for _ in range(3)]
    with made.prepare(callbacks={"add": work}) as worker:
        calls = [worker.submit(made, xs, ys) for ys in results[:2]]
        entered.acquire()
        assert not calls[0].done and calls[0].wait(0.01) is False
        with pytest.raises(TimeoutError, match="not over after 0.01 s"):
            calls[0].result(timeout=0.01)
        held.set()
        calls.append(worker.submit(made, xs, results[2]))
        for call in calls:
            assert call.result() is None
            assert call.done
    for ys in results:
        np.testing.assert_array_equal(ys, expected(xs))
    with pytest.raises(RuntimeError, match=r"submit\(\) called after close\(\)"):
        worker.submit(made, xs, results[0])


def late_ring(nr):
    """A device waits, before the sub-worker, for what comes after it."""

    @pl.program
    class LateRing:
        @pl.function(type=pl.FunctionType.InCore)
        def early(self, sig: pld.DistributedTensor[[nr, 1], pl.INT32], me: pl.Scalar[pl.INT32]):
            if me == 1:
                pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)  #: waits

        @pl.function(type=pl.FunctionType.InCore)
        def late(self, sig: pld.DistributedTensor[[nr, 1], pl.INT32], me: pl.Scalar[pl.INT32]):
            if me == 0:
                pld.system.notify(sig, 1, [0, 0], 1, op=pld.NotifyOp.Set)

        @pl.function(type=pl.FunctionType.Orchestration)
        def before(self, sig: pld.DistributedTensor[[nr, 1], pl.INT32], me: pl.Scalar[pl.INT32]):
            self.early(sig, me)

        @pl.function(type=pl.FunctionType.Orchestration)
        def behind(self, sig: pld.DistributedTensor[[nr, 1], pl.INT32], me: pl.Scalar[pl.INT32]):
            self.late(sig, me)

        @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
        def between(ys: pl.Tensor[[nr, N], pl.FP32]):
            pass

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, ys: pl.Out[pl.Tensor[[nr, N], pl.FP32]]):
            buf = pld.alloc_window_buffer(nr * pl.INT32.get_byte())
            sig = pld.window(buf, [nr, 1], dtype=pl.INT32)
            for r in pl.range(pld.world_size()):
                self.before(sig, r, device=r)
            self.between(ys)
            for r in pl.range(pld.world_size()):
                self.behind(sig, r, device=r)
            return ys

    return LateRing


def test_the_turn_of_the_host_has_no_line():
    [verdict] = compiled(late_ring(2), 2).verdicts
    line = next(i for i, text in enumerate(Path(__file__).read_text().splitlines(), 1) if text.endswith("#: waits"))
    assert verdict.refutations[0].kind == "deadlock"
    assert verdict.lines == verdict.refutations[0].lines == [line]
    assert all(f"(line {line})" in step for r in verdict.refutations for step in r.schedule if "(line" in step)


INTERRUPTED = """
import os, signal, sys, time
sys.path.insert(0, {place!r})
import numpy as np
import test_host_work
from frame import compiled
made = compiled(test_host_work.relay(2, test_host_work.bound_later()), 2)
def work(args):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(600)
xs = np.zeros((2, 1, test_host_work.N), np.float32)
with made.prepare(callbacks={{"add": work}}) as worker:
    worker(xs, xs.copy())
"""
INTERRUPTED_CALL = """
import os, signal, sys, time
sys.path.insert(0, {place!r})
import numpy as np
import pypto.language as pl
import test_host_work
from frame import compiled
@pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
def add(middle: pl.Tensor[[pl.dynamic("NR"), 1, 12], pl.FP32], by: pl.Scalar[pl.INT32]):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(600)
xs = np.zeros((2, 1, test_host_work.N), np.float32)
compiled(test_host_work.relay(2, add), 2)(xs, xs.copy())
"""


@pytest.mark.parametrize("text", [INTERRUPTED, INTERRUPTED_CALL], ids=["prepared", "called"])
def test_ctrl_c_does_not_wait_for_a_sub_worker(tmp_path, text):
    """That goes on for ten minutes."""
    script = tmp_path / "main.py"
    script.write_text(text.format(place=str(Path(__file__).parent)))
    done = subprocess.run([sys.executable, "-B", script], capture_output=True, text=True, timeout=300)
    assert done.returncode != 0 and "KeyboardInterrupt" in done.stderr, done.stderr
    assert done.stderr.count("is a host task that has not returned within 1000 ms") == 1, done.stderr


def gather(nr):
    """Every device is given the whole result."""

    @pl.program
    class Gather:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            self,
            x: pl.Tensor[[1, N], pl.FP32],
            y: pl.Out[pl.Tensor[[nr, N], pl.FP32]],
            data: pld.DistributedTensor[[1, N], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[nr, 1], pl.INT32]],
            me: pl.Scalar[pl.INT32],
        ):
            pl.store(pl.load(x, [0, 0], [1, N]), [0, 0], data)
            pld.tensor.barrier(sig)
            y = pl.store(pld.tile.remote_load(data, (me + 1) % nr, [0, 0], [1, N]), [me, 0], y)
            return y

        @pl.function(type=pl.FunctionType.Orchestration)
        def chip(
            self,
            x: pl.Tensor[[1, N], pl.FP32],
            y: pl.Out[pl.Tensor[[nr, N], pl.FP32]],
            data: pld.DistributedTensor[[1, N], pl.FP32],
            sig: pl.InOut[pld.DistributedTensor[[nr, 1], pl.INT32]],
            me: pl.Scalar[pl.INT32],
        ):
            return self.kernel(x, y, data, sig, me)

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, xs: pl.Tensor[[nr, 1, N], pl.FP32], ys: pl.Out[pl.Tensor[[nr, N], pl.FP32]]):
            data_buf = pld.alloc_window_buffer(N * pl.FP32.get_byte())
            sig_buf = pld.alloc_window_buffer(nr * pl.INT32.get_byte())
            for r in pl.range(pld.world_size()):
                data = pld.window(data_buf, [1, N], dtype=pl.FP32)
                sig = pld.window(sig_buf, [nr, 1], dtype=pl.INT32)
                self.chip(xs[r], ys, data, sig, r, device=r)
            return ys

    return Gather


def test_devices_of_a_domain_do_not_share_what_they_write():
    """Neither comes after the other, for they wait for each other."""
    with pytest.raises(ValueError, match=r"devices 0 and 1 share 'ys', which they write: pass ys\[r\]") as error:
        compiled(gather(2), 2)
    assert "self.chip(xs[r], ys, data, sig, r, device=r)" in str(error.value)


def scratch(nr):
    @pl.program
    class Tested:
        @pl.function(type=pl.FunctionType.Orchestration)
        def chip(self, x: pl.Tensor[[2, N], pl.FP32], y: pl.Out[pl.Tensor[[2, N], pl.FP32]]):
            own = pl.create_tensor([2, N], pl.FP32, init_value=1)
            with pl.at(level=pl.Level.CORE_GROUP):
                own[0:1, 2:5] = pl.add(x[0:1, 2:5], x[1:2, 0:3])
                own[1, 0] = x[1, 1]
                y = pl.assemble(y, pl.sub(own, 1), [0, 0])
            return y

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, xs: pl.Tensor[[nr, 2, N], pl.FP32], ys: pl.Out[pl.Tensor[[nr, 2, N], pl.FP32]]):
            for r in pl.range(pld.world_size()):
                self.chip(xs[r], ys[r], device=r)
            return ys

    return Tested


def test_memory_and_blocks_of_a_device_and_parts_of_tensors():
    made = compiled(scratch(2), 2)
    xs, ys = numbers((2, 2, N)) + 10, np.zeros((2, 2, N), np.float32)
    made(xs, ys)
    wanted = np.zeros_like(ys)
    wanted[:, 0, 2:5] = xs[:, 0, 2:5] + xs[:, 1, 0:3] - 1
    wanted[:, 1, 0] = xs[:, 1, 1] - 1
    np.testing.assert_array_equal(ys, wanted)


def test_blocks_that_are_not_known():
    with pytest.raises(UnsupportedFeatureError, match=r"with takes pl.at, .* found open\('x'\)"):

        @pl.program
        class Wrong:
            @pl.function(type=pl.FunctionType.InCore)
            def kernel(self, x: pl.Tensor[[1, 4], pl.FP32]):
                with open("x"):
                    pass


def blocks(nr):
    """The host's own blocks are dispatched to devices in turn."""

    @pl.program
    class Tested:
        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, xs: pl.Tensor[[2, N], pl.FP32], ys: pl.Out[pl.Tensor[[2, N], pl.FP32]]):
            sums = pl.create_tensor([2, N], pl.FP32)
            with pl.at(level=pl.Level.CHIP, role=pl.Role.Orchestrator):
                with pl.at(level=pl.Level.CORE_GROUP):
                    sums = pl.assemble(sums, pl.add(xs, xs), [0, 0])
            with pl.at(level=pl.Level.CHIP, role=pl.Role.Orchestrator):
                with pl.at(level=pl.Level.CORE_GROUP):
                    ys = pl.assemble(ys, pl.sub(sums, 1), [0, 0])
            return ys

    return Tested


@pytest.mark.parametrize("nr", [1, 2])
def test_blocks_of_the_host_run_on_devices_in_order(nr):
    program = blocks(nr)
    assert [g.name for g in program.functions] == ["host_block_1", "host_block_2", "host"]
    assert str(pl.parse_program(str(program))) == str(program)
    xs, ys = numbers((2, N)), np.zeros((2, N), np.float32)
    compiled(program, nr)(xs, ys)
    np.testing.assert_array_equal(ys, 2 * xs - 1)


def test_memory_of_devices_is_passed_to_calls():
    made = compiled(scratch(2), 2)
    xs, ys = numbers((2, 2, N)) + 10, np.zeros((2, 2, N), np.float32)
    made(xs, ys)
    with made.prepare() as worker:
        rows, out = worker.alloc_stacked_tensor(xs), worker.alloc_tensor((2, 2, N), np.float32)
        assert (rows.shape, len(worker._owned_tensors)) == ((2, 2, N), 2)
        with pytest.raises(TypeError, match=r"call compiled.prepare\(\)"):
            made(rows, ys)
        again = np.zeros_like(ys)
        worker(rows, out)
        worker(rows, again)
        np.testing.assert_array_equal(again, ys)
        back = np.zeros_like(xs)
        worker.copy_stacked_from(rows, back)
        np.testing.assert_array_equal(back, xs)
        worker.free_stacked_tensor(rows)
        with pytest.raises(ValueError, match="not one of the worker's, or was freed before"):
            worker.free_tensor(rows)
        for wrong, words in (((2, 2), "3 rows"), ((0, 5), "there is no device 5")):
            with pytest.raises(ValueError, match=words):
                worker.alloc_stacked_tensor(np.zeros((3 if wrong[0] else 2, 4)), worker_ids=[0, 1] if wrong[0] else wrong)
        address = worker.malloc(xs.nbytes, worker_id=1)
        worker.copy_to(address, xs.ctypes.data, xs.nbytes, worker_id=1)
        back[...] = 0
        worker.copy_from(back.ctypes.data, address, xs.nbytes)
        np.testing.assert_array_equal(back, xs)
        worker.free(address)
        with pytest.raises(ValueError, match="is not memory of this worker"):
            worker.free(address)
    assert not worker._owned_tensors
    with pytest.raises(RuntimeError, match=r"alloc_tensor\(\) called after close\(\)"):
        worker.alloc_tensor((1,), np.float32)


def rounds(nr):
    """Kernels that the host's own work comes between: they ring, ring again, and read what the cells hold."""

    @pl.program
    class Tested:
        @pl.function(type=pl.FunctionType.InCore)
        def ring(self, stage: pld.DistributedTensor[[nr, 1], pl.INT32], me: pl.Scalar[pl.INT32], k: pl.Scalar[pl.INT32]):
            pld.system.notify(stage, (me + 1) % nr, [me, 0], me + 1, op=pld.NotifyOp.AtomicAdd)
            left = (me + nr - 1) % nr
            pld.system.wait(stage, [left, 0], (left + 1) * (k + 1), cmp=pld.WaitCmp.Ge)

        @pl.function(type=pl.FunctionType.InCore)
        def look(
            self,
            x: pl.Tensor[[4, N], pl.INT32],
            y: pl.Out[pl.Tensor[[4, N], pl.INT32]],
            stage: pld.DistributedTensor[[nr, 1], pl.INT32],
            me: pl.Scalar[pl.INT32],
        ):
            y = pl.store(pl.load(x, [0, 1], [4, 2]), [0, 3], y)
            pl.write(y, [0, 0], pl.read(stage, [(me + nr - 1) % nr, 0]))
            return y

        @pl.function(type=pl.FunctionType.Orchestration)
        def ring_chip(self, stage: pld.DistributedTensor[[nr, 1], pl.INT32], me: pl.Scalar[pl.INT32], k: pl.Scalar[pl.INT32]):
            self.ring(stage, me, k)

        @pl.function(type=pl.FunctionType.Orchestration)
        def look_chip(
            self,
            x: pl.Tensor[[4, N], pl.INT32],
            y: pl.Out[pl.Tensor[[4, N], pl.INT32]],
            stage: pld.DistributedTensor[[nr, 1], pl.INT32],
            me: pl.Scalar[pl.INT32],
        ):
            return self.look(x, y, stage, me)

        @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
        def note(seen: pl.Tensor[[2, nr, 4, N], pl.INT32]):
            seen[:, :, 0, 1] += 1

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, xs: pl.Tensor[[nr, 4, N], pl.INT32], ys: pl.InOut[pl.Tensor[[2, nr, 4, N], pl.INT32]]):
            buf = pld.alloc_window_buffer(nr * pl.INT32.get_byte())
            stage = pld.window(buf, [nr, 1], dtype=pl.INT32)
            for k in pl.range(2):
                for r in pl.range(pld.world_size()):
                    self.ring_chip(stage, r, k, device=r)
                self.note(ys)
                for r in pl.range(pld.world_size()):
                    self.look_chip(xs[r], ys[k, r], stage, r, device=r)
                self.note(ys)

    return Tested


def test_a_signal_is_memory_over_the_host_s_own_work():
    nr = 3
    made = compiled(rounds(nr), nr)
    xs, ys = numbers((nr, 4, N), np.int32), np.zeros((2, nr, 4, N), np.int32)
    made(xs, ys)
    rung = np.roll(np.arange(nr), 1) + 1
    for k in range(2):
        np.testing.assert_array_equal(ys[k, :, 0, 0], (k + 1) * rung)
        np.testing.assert_array_equal(ys[k, :, :, 3:5], xs[:, :, 1:3])
        assert (ys[k, :, 0, 1] == 4).all()
    assert [v.verdict for v in made.verdicts] == ["proved"], str(made.verdicts[0])
