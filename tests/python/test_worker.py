# SPDX-License-Identifier: Apache-2.0
"""The worker: tasks on devices and on the host, arrays without copies, errors that name things."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

import peal

EXAMPLES = Path(__file__).parents[2] / "examples"
SCALE = peal.parse("kernel scale(inp: in f32[n], out: out f32[n], by: f32) {\n    out = inp * by\n}\n")
HASTY = """kernel hasty(inp: in f32[n], out: out f32[n], data: window f32[n], sig: window i32[nranks]) {
    data = inp
    notify sig[rank]@(1 - rank) = generation(sig) + 1
    out = data@(1 - rank)
    wait sig[1 - rank] >= generation(sig) + 1
    advance sig by 1
}
"""
ANSWER = """kernel answer(sig: window i32[nranks]) {
    wait sig[1 - rank] >= 1
    notify sig[rank]@(1 - rank) = 1
}
"""


@pytest.fixture(scope="module")
def worker():
    with peal.Worker(ranks=3) as started:
        yield started


def test_a_kernel_on_one_device(worker):
    scale = peal.DeviceKernel(SCALE)
    numbers, doubled = np.array([1, 2, 3], "f4"), np.zeros(3, "f4")
    task = worker.submit(scale, 0, [numbers, doubled, 2.0])
    assert task.wait() is True
    assert task.state == "done" and task.is_over and task.name == "scale"
    np.testing.assert_array_equal(doubled, [2, 4, 6])
    worker.submit(scale, 1, (numbers, doubled, np.float32(3))).wait()
    np.testing.assert_array_equal(doubled, [3, 6, 9])
    worker.submit(scale, 1, (numbers, doubled, 4)).wait()
    np.testing.assert_array_equal(doubled, [4, 8, 12])


@pytest.mark.parametrize("engine", ["processes", "in_process"])
@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("recipe", ["auto", "ring", "mesh"])
def test_collectives_on_a_domain(engine, ranks, recipe):
    count = 100
    with peal.Worker(ranks=ranks, engine=engine, check=True) as devices:
        kernel = peal.DeviceKernel("allreduce", count=count, recipe=recipe)
        domain = devices.allocate_domain(kernel.windows(ranks), name="all")
        inputs = [np.arange(count, dtype="f4") + 100 * r for r in range(ranks)]
        outputs = [np.zeros(count, "f4") for _ in range(ranks)]
        arguments = [[inputs[r], outputs[r], domain["data"], domain["signal"]] for r in range(ranks)]
        for _ in range(3):
            devices.submit_group(kernel, domain, arguments)
        assert devices.wait() is True
        for output in outputs:
            np.testing.assert_array_equal(output, sum(inputs))


def test_every_element_type(worker):
    for dtype in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
        kernel = peal.DeviceKernel("allreduce", count=5, dtype=np.dtype(dtype), placement="in place")
        domain = worker.allocate_domain(kernel.windows(3))
        buffers = [np.arange(5, dtype=dtype) + r for r in range(3)]
        worker.submit_group(kernel, domain, [[b, domain["data"], domain["signal"]] for b in buffers]).wait()
        for buffer in buffers:
            np.testing.assert_array_equal(buffer, 3 * np.arange(5) + 3)


def test_bf16_is_bits(worker):
    kernel = peal.DeviceKernel("allreduce", count=4, dtype="bf16", placement="in place")
    domain = worker.allocate_domain(kernel.windows(3))
    ones = [np.full(4, 0x3F80, "u2") for _ in range(3)]
    arguments = [[peal.bits(a, "bf16"), domain["data"], domain["signal"]] for a in ones]
    worker.submit_group(kernel, domain, arguments).wait()
    for array in ones:
        np.testing.assert_array_equal(array, np.full(4, 0x4040, "u2"))
    with pytest.raises(peal.Error, match="^bits: expected elements of 2 bytes for bf16, found f32$"):
        peal.bits(np.zeros(4, "f4"), "bf16")


def test_programs_plans_and_pto_kernels(worker):
    mesh = peal.parse_file(EXAMPLES / "mesh_allreduce.peal")
    ring = peal.PtoKernel(str(EXAMPLES / "pto" / "allreduce_ring.cpp"))
    inputs = [np.arange(256, dtype="f4") + r for r in range(3)]
    scratch = "window:f32[n]+signals:(2*P)x16"
    plans = ring.trace(["in:f32[n]", "out:f32[n]", scratch, "nranks", "context", "generation"], ranks=3, n=256)
    assert [plan.rank for plan in plans] == [0, 1, 2]
    for kernel in [peal.DeviceKernel(mesh, n=256), peal.DeviceKernel(plans)]:
        windows = kernel.windows(3)
        domain = worker.allocate_domain(windows)
        outputs = [np.zeros(256, "f4") for _ in range(3)]
        shared = [domain[window.name] for window in windows]
        worker.submit_group(kernel, domain, [[inputs[r], outputs[r], *shared] for r in range(3)]).wait()
        for output in outputs:
            np.testing.assert_array_equal(output, sum(inputs))


def test_plans_travel_as_json():
    mesh = peal.parse_file(EXAMPLES / "mesh_allreduce.peal")
    plans = peal.compile(mesh, 2, sizes={"n": 8})
    assert peal.plans_from_json(peal.plans_to_json(plans)) == plans
    assert plans[0] != plans[1] and plans[0].digest != plans[1].digest
    assert plans[0].buffers == ["inp", "out", "data", "sig"]
    assert repr(plans[1]).startswith("<peal.Plan mesh_allreduce, rank 1 of 2: ")
    assert len(plans[0]) > 0 and "notify" in str(plans[0])


def test_device_memory(worker):
    scale = peal.DeviceKernel(SCALE)
    values, results = np.arange(10, dtype="f4"), np.zeros(10, "f4")
    resident = worker.alloc(1, 10)
    assert (resident.rank, resident.shape, resident.dtype, resident.nbytes) == (1, (10,), "f32", 40)
    worker.upload(values, resident)
    worker.submit(scale, 1, [resident[:5], peal.Tensor(results)[:5], 3.0])
    worker.download(resident[5:], peal.Tensor(results)[5:])
    worker.wait()
    np.testing.assert_array_equal(results, [0, 3, 6, 9, 12, 5, 6, 7, 8, 9])
    view = resident.array
    view[0] = 77  # the memory itself
    assert np.asarray(resident)[0] == 77
    del resident
    assert view[0] == 77  # which the array keeps


def test_sharded_tensors(worker):
    parts = worker.alloc_sharded((6, 2), "i32")
    whole, back = np.arange(12, dtype="i4").reshape(6, 2), np.zeros((6, 2), "i4")
    worker.upload(whole, parts)
    worker.wait()
    assert parts.shape == (6, 2) and len(parts) == 3
    np.testing.assert_array_equal(parts[1].array, whole[2:4])
    worker.download(parts, back)
    worker.wait()
    np.testing.assert_array_equal(back, whole)
    with pytest.raises(IndexError):
        parts[3]


def test_tensors_are_views():
    array = np.arange(12, dtype="f4").reshape(3, 4)
    tensor = peal.Tensor(array)
    assert tensor.shape == (3, 4) and tensor.dtype == "f32" and tensor.rank == -1 and len(tensor) == 3
    assert repr(tensor) == "<peal.Tensor f32[3, 4] on the host>"
    assert tensor[1:3].shape == (2, 4)
    assert tensor.reshape(12).shape == (12,)
    assert [part.shape for part in tensor.split(3)] == [(1, 4)] * 3
    assert tensor.array.base is tensor and tensor.array.ctypes.data == array.ctypes.data
    assert peal.Tensor(array, shape=(2, 6)).shape == (2, 6)
    assert peal.Tensor(b"abc").is_read_only and peal.Tensor(b"abc").dtype == "u8"
    assert not peal.Tensor(b"abc").array.flags.writeable
    with pytest.raises(peal.Error, match="^slice: expected step 1, found 2$"):
        tensor[::2]
    with pytest.raises(peal.Error):
        tensor[0:1].reshape(5)


def test_host_tasks_follow_what_they_touch(worker):
    scale = peal.DeviceKernel(SCALE)
    a, b, c = np.ones(4, "f4"), np.zeros(4, "f4"), np.zeros(4, "f4")
    worker.submit(scale, 0, [a, b, 2.0])
    worker.submit(scale, 1, [b, c, 3.0])  # reads b
    worker.submit_host(lambda: a.fill(7), writes=[a])  # after the first has read it
    worker.submit(scale, 0, [a, b, 1.0])  # after the second has read b
    worker.wait()
    np.testing.assert_array_equal(c, [6] * 4)
    np.testing.assert_array_equal(b, [7] * 4)


def test_host_tasks_are_threads_of_the_interpreter(worker):
    seen = []

    def note():
        seen.append(threading.get_ident())

    first = worker.submit_host(note)
    worker.submit_host(note, name="again", after=[first]).wait()
    assert first.name == "note"
    assert len(set(seen)) == 1 and threading.get_ident() not in seen


def test_what_a_host_task_raises_is_raised_by_wait():
    with peal.Worker(ranks=1) as devices:
        a, b = np.ones(4, "f4"), np.zeros(4, "f4")

        def read():
            raise FileNotFoundError("no such file")

        bad = devices.submit_host(read, writes=[a])
        dependant = devices.submit(peal.DeviceKernel(SCALE), 0, [a, b, 2.0])
        for _ in range(2):
            with pytest.raises(FileNotFoundError, match="no such file"):
                bad.wait()
        with pytest.raises(
            peal.Error,
            match=r"^task 2 'scale' was not run, because task 1 'read' failed: FileNotFoundError: no such file$",
        ):
            dependant.wait()


def test_arrays_stay_until_their_tasks_are_over():
    with peal.Worker(ranks=1) as devices:
        gate, result = threading.Event(), np.zeros(1000, "f4")
        array = np.full(1000, 2, "f4")
        gone = weakref.ref(array)
        devices.submit_host(lambda: gate.wait(), updates=[array])
        devices.submit(peal.DeviceKernel(SCALE), 0, [array, result, 2.0])
        del array
        gc.collect()
        assert gone() is not None
        gate.set()
        devices.wait()
        np.testing.assert_array_equal(result, [4] * 1000)
        gc.collect()
        assert gone() is None


def test_domains(worker):
    kernel = peal.DeviceKernel("allreduce", count=4)
    spec = [peal.WindowSpec("data", (100,), np.float64), peal.WindowSpec("sig", cells=2, dtype="i32")]
    assert repr(spec) == "[<peal.WindowSpec data: f64[100]>, <peal.WindowSpec sig: 2 cells>]"
    with worker.allocate_domain(spec, ranks=[2, 0], name="pair") as pair:
        assert pair.ranks == [2, 0] and pair.nranks == 2 and pair.rank_of(0) == 1
        assert 2 in pair and 1 not in pair
        assert pair["data"].name == "data" and pair.view("data", 2).shape == (100,)
        with pytest.raises(peal.Error, match="nothing"):
            pair["nothing"]
        assert not pair.is_released
    assert pair.is_released
    assert [window.name for window in kernel.windows(2)] == ["data", "signal"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([[1.0], np.zeros(3, "f4"), 2.0], "argument 0: expected integers in the table, found float"),
        (["abc", np.zeros(3, "f4"), 2.0], r"kernel scale: argument 0: expected a contiguous array of .*, found str"),
        ([np.zeros((4, 4), "f4")[:, 0], np.zeros(4, "f4"), 2.0], r"argument 0: .* with gaps: strides of \[16\] bytes"),
        ([np.zeros(3, "?"), np.zeros(3, "f4"), 2.0], r"argument 0: .* found elements '\?' of 1 bytes"),
        ([np.zeros(3, ">f4"), np.zeros(3, "f4"), 2.0], r"argument 0: .* found elements '>f' of 4 bytes"),
        ([np.zeros(3, "f8"), np.zeros(3, "f4"), 2.0], "f64"),
        ([np.zeros(3, "f4"), b"read only!!!", 2.0], "out"),
        ([np.zeros(3, "f4"), np.zeros(3, "f4")], "by"),
    ],
)
def test_wrong_arguments(worker, arguments, message):
    with pytest.raises(peal.Error, match=message) as caught:
        worker.submit(peal.DeviceKernel(SCALE), 0, arguments)
    assert caught.value.fault == "usage"


def test_wrong_words(worker):
    for make, message in [
        (lambda: peal.DeviceKernel("allreduc", count=1), "^collective: there is no 'allreduc'; choose one of allreduce, "),
        (lambda: peal.DeviceKernel("allreduce", op="xor"), "^op: there is no 'xor'; choose one of sum, prod, max, min$"),
        (lambda: peal.DeviceKernel("allreduce", dtype="f31"), "^dtype: there is no element type 'f31'; choose one of f16, "),
        (lambda: peal.Worker(ranks=1, engine="gpu"), "^engine: there is no 'gpu'; choose one of processes, in_process$"),
        (lambda: peal.Worker(ranks=0), ""),
        (lambda: worker.wait(timeout=-1), "^timeout: expected seconds, 0 or more, found -1$"),
        (lambda: worker.submit_group(peal.DeviceKernel(SCALE), [0], [3]), "^kernel scale: arguments of rank 0: expected a list, found int$"),
    ]:
        with pytest.raises(peal.Error, match=message) as caught:
            make()
        assert caught.value.fault == "usage"


def test_a_kernel_that_is_wrong_is_refused():
    with peal.Worker(ranks=2, check=True) as devices:
        kernel = peal.DeviceKernel(peal.parse(HASTY, name="hasty.peal"), n=4)
        domain = devices.allocate_domain(kernel.windows(2))
        arguments = [[np.zeros(4, "f4"), np.zeros(4, "f4"), domain["data"], domain["sig"]] for _ in range(2)]
        with pytest.raises(peal.Error, match="^kernel hasty on 2 ranks is not proved: data race: ") as caught:
            devices.submit_group(kernel, domain, arguments)
        assert caught.value.fault == "wrong"


def test_a_deadlock_is_found():
    with peal.Worker(ranks=2) as devices:
        answer = peal.DeviceKernel(peal.parse(ANSWER, name="answer.peal"))
        pair = devices.allocate_domain([peal.WindowSpec("sig", cells=2, dtype="i32")])
        left = devices.submit(answer, 0, [pair["sig"]], name="left")
        devices.submit(answer, 1, [pair["sig"]], name="right")
        with pytest.raises(peal.Error, match="^deadlock: no device can go on\n  rank 0  task 1 'left'"):
            left.wait()
        assert devices.state == "failed"
        devices.restart()
        assert devices.state == "ready"


def test_a_device_that_dies():
    with peal.Worker(ranks=2) as devices:
        os.kill(devices.process_of(1), signal.SIGKILL)
        with pytest.raises(peal.Error, match="killed by signal 9"):
            while True:  # until it is known
                devices.submit(peal.DeviceKernel(SCALE), 1, [np.ones(2, "f4"), np.ones(2, "f4"), 2.0]).wait()


def test_waits_end_in_time(worker):
    gate = threading.Event()
    task = worker.submit_host(gate.wait)
    assert task.wait(timeout=0) is False and worker.wait(timeout=0.01) is False
    gate.set()
    assert task.wait(timeout=60) is True and worker.wait(60) is True


def test_what_happened_is_known(worker, tmp_path):
    worker.submit(peal.DeviceKernel(SCALE), 2, [np.ones(8, "f4"), np.ones(8, "f4"), 2.0], name="mine").wait()
    timing = worker.timings()[-1]
    assert (timing.name, timing.state, timing.not_run) == ("mine", "done", "")
    assert [part.rank for part in timing.parts] == [2]
    assert timing.queued <= timing.dispatched and timing.started <= timing.ended <= timing.finished
    assert "mine" in worker.table()
    worker.write_trace(str(tmp_path / "trace.json"))
    assert "mine" in (tmp_path / "trace.json").read_text()


def test_closing_leaves_nothing_behind():
    devices = peal.Worker(ranks=2)
    processes = [devices.process_of(rank) for rank in range(2)]
    devices.close()
    devices.close()
    assert devices.state == "closed"
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def run(program, **options):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, **options)


def test_a_program_that_ends_early_closes_its_worker():
    done = run(
        "import peal, time\n"
        "worker = peal.Worker(ranks=2)\n"
        "worker.submit_host(lambda: (time.sleep(0.05), print('ran')))\n"
        "print(worker.process_of(0), worker.process_of(1))\n"
    )
    assert done.returncode == 0 and done.stderr == ""
    processes, ran = done.stdout.splitlines()
    assert ran == "ran"
    for process in map(int, processes.split()):
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_ctrl_c_interrupts_a_wait():
    program = subprocess.Popen(
        [sys.executable, "-c",
         "import peal, threading\n"
         "gate = threading.Event()\n"
         "with peal.Worker(ranks=1) as worker:\n"
         "    task = worker.submit_host(gate.wait)\n"
         "    try:\n"
         "        print(worker.process_of(0), flush=True)\n"
         "        task.wait()\n"
         "    except KeyboardInterrupt:\n"
         "        gate.set()\n"
         "        print('interrupted', flush=True)\n"],
        stdout=subprocess.PIPE, text=True)
    device = int(program.stdout.readline())
    program.send_signal(signal.SIGINT)
    assert program.stdout.readline() == "interrupted\n"
    assert program.wait(60) == 0
    with pytest.raises(ProcessLookupError):
        os.kill(device, 0)


STUCK = """
import peal, threading, os
workers = [peal.Worker(ranks=1, close_deadline=0.05) for _ in range(2)]
entered = threading.Event()
for worker in workers:
    entered.clear()
    worker.submit_host(lambda: (entered.set(), threading.Event().wait()), name="stuck")
    entered.wait()
print(*(worker.process_of(0) for worker in workers))
"""
LEFT = "task 1 'stuck' is a host task that has not returned within 50 ms; the worker is closed without it, and its thread goes on"


@pytest.mark.parametrize("closes", [True, False])
def test_a_host_task_that_never_ends_does_not_keep_the_program(closes):
    text = STUCK + (
        "for worker in workers:\n"
        "    try:\n        worker.close()\n"
        "    except peal.Error as error:\n        print(error)\n" if closes else "")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    devices, *told = done.stdout.splitlines()
    assert done.returncode == 0 and told == ([LEFT] * 2 if closes else [])
    assert done.stderr == ("" if closes else f"peal: {LEFT}\n" * 2)
    assert not any(Path(f"/proc/{device}").exists() for device in devices.split())
