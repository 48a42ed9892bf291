# SPDX-License-Identifier: Apache-2.0
"""What drivers call: workers of both levels, memory of the host and of chips, copies, Python functions as tasks."""

import numpy
import pytest
from driver_places import KERNELS
from simpler.buffer import AddressSpace, BackendKind
from simpler.task_interface import (
    ArgDirection,
    ChipCallable,
    CommBufferSpec,
    CoreCallable,
    DataType,
    TaskArgs,
    TensorArgType,
)
from simpler.worker import Worker
from simpler_setup.kernel_compiler import KernelCompiler
from simpler_setup.torch_interop import make_tensor_arg

import torch  # isort: skip

F32 = DataType.FLOAT32
IN, OUT, INOUT = ArgDirection.IN, ArgDirection.OUT, ArgDirection.INOUT


def built(entry, kernels, signature):
    compiler = KernelCompiler("a2a3sim")
    cores = [(n, CoreCallable.build(signature, compiler.compile_incore(KERNELS / f"{k}_kernel.cpp"))) for n, k in kernels]
    shim = compiler.compile_orchestration("tensormap_and_ringbuffer", KERNELS / "chip_orch.cpp")
    return ChipCallable.build(signature=signature, func_name=entry, binary=shim, children=cores)


@pytest.fixture(scope="module")
def twice():
    return built("twice", [(0, "twice")], [IN, OUT])


@pytest.fixture(autouse=True)
def _check(monkeypatch):
    monkeypatch.setenv("PEAL_CHECK", "error")


@pytest.fixture
def worker(request):
    options = getattr(request, "param", {})
    with Worker(level=3, platform="a2a3sim", device_ids=[4, 5], num_sub_workers=1, **options) as made:
        made.init()
        yield made


def task(source, target, tag=TensorArgType.OUTPUT_EXISTING):
    args = TaskArgs()
    args.add_tensor(source, TensorArgType.INPUT)
    args.add_tensor(target, tag)
    return args


def row(*values):
    return torch.tensor([float(v) for v in values], dtype=torch.float32)


def values_of(buffer, count=8):
    return list(numpy.frombuffer(buffer.memory(), "f4", count))


EIGHT = [float(i) for i in range(8)]


# ---------------------------------------------------------------------------- level 2


def test_a_worker_of_level_2_runs_one_task(twice):
    with Worker(level=2, platform="a2a3sim", device_id=3, runtime="tensormap_and_ringbuffer") as worker:
        handle = worker.register(twice)
        with pytest.raises(TypeError, match="expected a ChipCallable, found builtin_function_or_method"):
            worker.register(print)
        worker.init()
        source, target = row(*EIGHT), row(*[-1] * 8)
        assert worker.run(handle, task(make_tensor_arg(worker, source), make_tensor_arg(worker, target))) is None
        assert [float(target[i]) for i in range(8)] == [2 * v for v in EIGHT]


def test_memory_of_a_chip_of_level_2(twice):
    with Worker(level=2, platform="a2a3sim") as worker:
        handle = worker.register(twice)
        with pytest.raises(RuntimeError, match="malloc: the worker is new; init\\(\\) comes first"):
            worker.malloc(32)
        worker.init()
        a, b = worker.malloc(32), worker.malloc(32)
        assert (a.address_space, a.backend_kind, a.nbytes) == (AddressSpace.DEVICE, BackendKind.DEVICE_MALLOC, 32)
        assert worker.committed_device_memory() == 64
        worker.copy_to(a, row(*EIGHT))
        worker.run(handle, task(a.tensor((8,), F32), b.tensor((8,), F32)))
        found = row(*[0] * 8)
        worker.copy_from(found, b)
        assert [float(found[i]) for i in range(8)] == [2 * v for v in EIGHT]
        lent = bytearray(64)
        worker.copy_from(memoryview(lent)[32:], b)
        assert list(numpy.frombuffer(lent, "f4")) == [0.0] * 8 + [2 * v for v in EIGHT]
        worker.copy_to(a, lent[32:])
        worker.copy_from(found, a)
        assert [float(found[i]) for i in range(8)] == [2 * v for v in EIGHT]
        for wrong in (lambda: worker.copy_to(a, row(*[0] * 9)), lambda: worker.copy_from(row(*[0] * 9), a)):
            with pytest.raises(ValueError, match="36 bytes do not fit into a buffer of 32"):
                wrong()
        read_only = numpy.zeros(8, "f4")
        read_only.flags.writeable = False
        for wrong in (lambda: worker.copy_from(bytes(32), a), lambda: worker.copy_to(a, bytes(32)), lambda: worker.copy_from(read_only, a)):
            with pytest.raises(TypeError, match="expected memory that can be written"):
                wrong()
        with pytest.raises(ValueError, match="expected a contiguous tensor"):
            worker.copy_to(a, numpy.zeros(16, "f4")[::2])
        with pytest.raises(ValueError, match="expected contiguous memory"):
            worker.copy_from(memoryview(lent)[::2], a)
        worker.free(a)
        assert worker.committed_device_memory() == 32
        with pytest.raises(ValueError, match="closed"):
            a.tensor((8,), F32)
        with pytest.raises(ValueError):
            worker.free(a)
        with pytest.raises(ValueError, match="positive number of bytes, found 0"):
            worker.malloc(0)


# ---------------------------------------------------------------------------- level 3


def test_python_functions_run_between_tasks(worker, twice):
    """In the order in which they were submitted; what they touch is what chips touch."""
    seen = []

    def look(args):
        assert (args.tensor_count(), args.scalar_count(), args.scalar(0)) == (2, 1, 7)
        one, two = args
        assert (one.shapes, one.strides, one.dtype) == ((8,), (1,), F32)
        seen.append(list(one.buffer.cast("f")))
        with pytest.raises(TypeError):  # it was not shared
            two.buffer[0] = 1
        one.buffer.cast("f")[0] = 100.0

    chip, function = worker.register(twice), worker.register(look)
    shared, last = worker.create_buffer(32), worker.create_buffer(32)
    plain, source = row(*EIGHT), row(*EIGHT)

    def orchestrate(orch, *_):
        orch.submit_next_level(chip, task(make_tensor_arg(worker, source), shared.tensor((8,), F32)), worker=0)
        args = TaskArgs()
        args.add_tensor(shared.tensor((8,), F32), TensorArgType.INOUT)
        args.add_tensor(make_tensor_arg(worker, plain))
        args.add_scalar(7)
        orch.submit_sub(function, args)
        with orch.scope():
            orch.submit_next_level(chip, task(shared.tensor((8,), F32), last.tensor((8,), F32)), worker=1)

    worker.run(orchestrate)
    assert seen == [[2 * v for v in EIGHT]]
    assert values_of(last) == [200.0] + [4 * v for v in EIGHT[1:]]


def test_a_function_that_fails_fails_the_run_and_leaves_the_worker(worker, twice):
    def fails(args):
        raise KeyError("mine")

    chip, function = worker.register(twice), worker.register(fails)
    source, target = row(*EIGHT), worker.create_buffer(32)

    def after_it(orch, *_):
        orch.submit_sub_group(function, [None, None])
        orch.submit_next_level(chip, task(make_tensor_arg(worker, source), target.tensor((8,), F32)), worker=0)

    with pytest.raises(RuntimeError, match="sub task fails failed: 'mine'"):
        worker.run(after_it)
    assert values_of(target) == [0.0] * 8  # what comes after it did not run

    def alone(orch, *_):
        orch.submit_next_level(chip, task(make_tensor_arg(worker, source), target.tensor((8,), F32)), worker=0)

    handle = worker.submit(alone)
    assert handle.done and handle.wait() is None and handle.result(timeout=1) is None
    assert values_of(target) == [2 * v for v in EIGHT]
    assert worker.submit(after_it).done
    with pytest.raises(TypeError, match="submit_sub runs those"):
        worker.run(lambda orch, *_: orch.submit_next_level(function, TaskArgs(), worker=0))
    with pytest.raises(TypeError, match="submit_next_level runs those"):
        worker.run(lambda orch, *_: orch.submit_sub(chip))


def test_memory_of_chips_is_for_their_tasks(worker, twice):
    chip = worker.register(twice)
    source, found = worker.create_buffer(32), worker.create_buffer(32)
    source.shm.buf.cast("f")[:8] = memoryview(numpy.array(EIGHT, "f4"))
    kept = []

    def fill(orch, *_):
        kept.append(orch.alloc_child_tensor(1, (8,), F32))
        kept.append(orch.alloc_child_tensor(1, (2, 4), F32))
        assert orch.committed_device_memory(1) == 64 and orch.committed_device_memory(0) == 0
        orch.copy_to(kept[0], source)
        orch.submit_next_level(chip, task(kept[0].tensor((2, 4), F32), kept[1].tensor((2, 4), F32)), worker=1)
        for call in (
            lambda: orch.copy_to(kept[0], source),
            lambda: orch.copy_from(found, kept[1]),
            lambda: orch.free(kept[0]),
            lambda: orch.alloc_child_tensor(0, (1,), F32),
            lambda: orch.allocate_domain(name="d", workers=[0], window_size=64),
        ):
            with pytest.raises(RuntimeError, match="must come before the first submit of a run"):
                call()

    worker.run(fill)
    worker.run(lambda orch, *_: orch.copy_from(found, kept[1]))
    assert values_of(found) == [2 * v for v in EIGHT]

    def elsewhere(orch, *_):
        orch.submit_next_level(chip, task(kept[0].tensor((8,), F32), kept[1].tensor((8,), F32)), worker=0)

    with pytest.raises(ValueError, match="tensor 0 is memory of chip 1; only that chip can use it"):
        worker.run(elsewhere)
    sub = worker.register(lambda args: None)

    def to_a_function(orch, *_):
        args = TaskArgs()
        args.add_tensor(kept[0].tensor((8,), F32))
        orch.submit_sub(sub, args)

    with pytest.raises(ValueError, match="a Python function is given host memory"):
        worker.run(to_a_function)
    worker.run(lambda orch, *_: [orch.free(each) for each in kept])
    assert worker.committed_device_memory(1) == 0


def test_older_drivers_name_chip_memory_by_its_address(worker, twice):
    from simpler.task_interface import ContinuousTensor

    chip = worker.register(twice)
    source, found = numpy.array(EIGHT, "f4"), numpy.zeros(8, "f4")
    kept = []

    def at(address):
        return ContinuousTensor.make(data=address, shapes=(8,), dtype=F32, child_memory=True)

    def fill(orch, *_):
        kept.extend(orch.malloc(0, 32) for _ in range(2))
        orch.copy_to(0, kept[0], source.ctypes.data, 32)
        orch.submit_next_level(chip, task(at(kept[0]), at(kept[1])), worker=0)

    def fetch(orch, *_):
        orch.copy_from(0, found.ctypes.data, kept[1], 32)
        for address in kept:
            orch.free(0, address)

    worker.run(fill)
    worker.run(fetch)
    assert found.tolist() == [2 * v for v in EIGHT]


def test_tasks_are_ordered_by_bytes_that_they_share(worker, twice):
    """Through memory of one run that is given back at its end, and through halves of one tensor."""
    chip = worker.register(twice)
    source, target = row(*EIGHT).share_memory_(), row(*[-1] * 8).share_memory_()
    kept = []

    def orchestrate(orch, *_):
        between = orch.alloc((8,), F32)
        kept.append(between)
        orch.submit_next_level(chip, task(make_tensor_arg(worker, source), between), worker=0)
        for half in (0, 1):
            part = between.tensor((4,), F32, byte_offset=16 * half)
            out = worker.make_tensor_arg(target, (8,), F32)._owner.tensor((4,), F32, byte_offset=16 * half)
            orch.submit_next_level(chip, task(part, out), worker=1 - half)

    worker.run(orchestrate)
    assert [float(target[i]) for i in range(8)] == [4 * v for v in EIGHT]
    assert kept[0].closed and worker._buffers == []
    with pytest.raises(TypeError, match="add_tensor: expected a tensor argument, found Buffer"):
        TaskArgs().add_tensor(worker.create_buffer(32))


def test_an_output_keeps_what_nobody_writes(worker, twice):
    """OUT is not copied in, and what a kernel leaves alone is not copied over."""
    chip = worker.register(twice)
    source, target = row(*EIGHT).share_memory_(), row(*[-1] * 8).share_memory_()
    shown = worker.make_tensor_arg(source, (4,), F32)
    with pytest.raises(ValueError, match="the tensor ends at byte 64 of a buffer of 32"):
        worker.make_tensor_arg(source, (16,), F32)

    def orchestrate(orch, *_):
        orch.submit_next_level(chip, task(shown, worker.make_tensor_arg(target, (8,), F32)), worker=0)

    worker.run(orchestrate)
    assert [float(target[i]) for i in range(8)] == [0.0, 2.0, 4.0, 6.0, -1.0, -1.0, -1.0, -1.0]


def test_shims_may_create_tensors(worker):
    chip = worker.register(built("four_times", [(0, "twice")], [IN, OUT]))
    source, target = row(*EIGHT), worker.create_buffer(32)

    def orchestrate(orch, *_):
        for c in (0, 1):
            half = worker.make_tensor_arg(source, (4,), F32)._owner.tensor((2, 2), F32, byte_offset=16 * c)
            args = task(half, target.tensor((2, 2), F32, byte_offset=16 * c), TensorArgType.OUTPUT)
            orch.submit_next_level(chip, args, worker=c)

    for _ in range(2):
        worker.run(orchestrate)
        assert values_of(target) == [4 * v for v in EIGHT]


def test_what_cannot_be_is_said_at_once(worker, twice):
    chip = worker.register(twice)
    source, target = row(*EIGHT), row(*EIGHT).share_memory_()
    tensor = make_tensor_arg(worker, target)
    with pytest.raises(ValueError, match="call share_memory_\\(\\) on the tensor first"):
        task(tensor, make_tensor_arg(worker, source))

    def wrong(orch, *_):
        good = task(tensor, worker.create_buffer(32).tensor((8,), F32))
        for kind, words, call in [
            (TypeError, "expected the handle that register", lambda: orch.submit_next_level(twice, good, worker=0)),
            (TypeError, "worker: expected an int, found bool", lambda: orch.submit_next_level(chip, good, worker=True)),
            (ValueError, "expected a chip's number, found -2", lambda: orch.submit_next_level(chip, good, worker=-2)),
            (ValueError, "expected workers 0..1, found 2", lambda: orch.submit_next_level(chip, good, worker=2)),
            (ValueError, "arguments for 2 workers", lambda: orch.submit_next_level_group(chip, [good], workers=[0, 1])),
            (ValueError, "named twice", lambda: orch.submit_next_level_group(chip, [good] * 2, workers=[1, 1])),
            (TypeError, "expected TaskArgs, found list", lambda: orch.submit_next_level(chip, [], worker=0)),
        ]:
            with pytest.raises(kind, match=words):
                call()
        both = TaskArgs()
        both.add_tensor(tensor, TensorArgType.OUTPUT)
        both.add_tensor(tensor, TensorArgType.INOUT)
        with pytest.raises(ValueError, match="written overlap in memory"):
            orch.submit_next_level(chip, both, worker=0)
        with pytest.raises(RuntimeError, match="close: an orchestration function is running"):
            worker.close()
        with pytest.raises(RuntimeError, match="run: a run is under way"):
            worker.run(wrong)

    worker.run(wrong)
    worker.unregister(chip)
    with pytest.raises(KeyError, match="not live"):
        worker.run(lambda orch, *_: orch.submit_next_level(chip, TaskArgs(), worker=0))
    for _ in range(64):
        worker.register(print)
    with pytest.raises(RuntimeError, match="MAX_REGISTERED_CALLABLE_IDS"):
        worker.register(print)


def test_shared_buffers_go_when_they_are_released(worker):
    buffer = worker.create_buffer(16)
    assert (buffer.backend_kind, buffer.shm.size >= 16, buffer.closed) == (BackendKind.POSIX_SHM, True, False)
    with pytest.raises(ValueError, match="positive number of bytes, found -1"):
        worker.create_buffer(-1)
    with pytest.raises(RuntimeError, match="a run is under way"):
        worker.run(lambda orch, *_: worker.release_buffer(buffer))
    worker.release_buffer(buffer)
    buffer.close()
    with pytest.raises(ValueError, match="the buffer is closed"):
        buffer.tensor((4,), F32)


def test_buffers_of_a_domain_end_with_it(worker, twice):
    """Another domain has the memory then."""
    handle, kept = worker.register(twice), []

    def begin(orch, args, config):
        spec = CommBufferSpec("w", "float32", 4, 16)
        with orch.allocate_domain(name="d", workers=[0], window_size=64, buffers=[spec]) as domain:
            kept.append(domain[0].buffers["w"])
            kept.append(kept[0].tensor((4,), F32))
            assert not kept[0].closed

    worker.run(begin)
    assert kept[0].closed
    with pytest.raises(ValueError, match="the buffer is closed"):
        kept[0].tensor((4,), F32)
    y = row(0, 0, 0, 0)
    with pytest.raises(ValueError, match="a tensor of a buffer that is closed"):
        worker.run(lambda orch, args, config: orch.submit_next_level(handle, task(kept[1], make_tensor_arg(y)), worker=0))


def test_a_window_may_hold_input(worker):
    """The host copies it there; a kernel that takes the window by its address, and another behind it, find it."""
    allreduce = worker.register(built("allreduce", [(0, "stage"), (7, "sum")], [IN, OUT, INOUT]))
    inputs = [worker.create_buffer(32) for _ in range(2)]
    outputs = [worker.create_buffer(32) for _ in range(2)]
    for chip, buffer in enumerate(inputs):
        buffer.shm.buf.cast("f")[:8] = memoryview(numpy.array([v + chip for v in EIGHT], "f4"))

    def orchestrate(orch, *_):
        spec = CommBufferSpec(name="w", nbytes=(256 + 16) * 4)
        with orch.allocate_domain(name="d", workers=[1, 0], window_size=2048, buffers=[spec]) as domain:
            for chip in (0, 1):
                orch.copy_to(domain[chip].buffers["w"], inputs[chip])
            for chip in (0, 1):
                args = TaskArgs()
                # What is staged is what lies there already.
                args.add_tensor(domain[chip].buffers["w"].tensor((8,), F32))
                args.add_tensor(outputs[chip].tensor((8,), F32), TensorArgType.OUTPUT)
                args.add_tensor(domain[chip].buffers["w"].tensor((8,), F32), TensorArgType.INOUT)
                for scalar in (2, domain[chip].device_ctx, 0):
                    args.add_scalar(scalar)
                orch.submit_next_level(allreduce, args, worker=chip)

    worker.run(orchestrate)
    for buffer in outputs:
        assert values_of(buffer) == [2 * v + 1 for v in EIGHT]
