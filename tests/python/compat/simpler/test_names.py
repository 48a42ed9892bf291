# SPDX-License-Identifier: Apache-2.0
"""Names, values and errors of the modules, and the page that lists them."""

import ctypes
import re
from pathlib import Path

import pytest
import simpler
import simpler_setup
from simpler import task_interface as ti
from simpler._peal import compatibility
from simpler.buffer import AddressSpace, BackendKind, Buffer
from simpler.worker import Worker
from simpler_setup.kernel_compiler import KernelCompiler
from simpler_setup.parallel_scheduler import device_range_to_list

ROOT = Path(__file__).parents[4]


def test_they_are_peals():
    for module in (simpler, simpler_setup):
        assert module.__version__ == "0+peal"
        assert Path(module.__file__).resolve().is_relative_to(ROOT)


def test_what_is_refused_is_named():
    with pytest.raises(NotImplementedError, match="the cube"):
        KernelCompiler("a2a3").compile_incore(__file__, core_type="aic")
    for ids in ("0-1", [0, "1"], 2):
        with pytest.raises(TypeError, match=f"^Worker: device_ids: expected a list of ints, found {re.escape(repr(ids))}$"):
            Worker(level=3, device_ids=ids)
    with pytest.raises(ValueError, match="level '3' is not supported by Peal"):
        Worker(level="3")
    with pytest.raises(ValueError, match="level 4 is not supported by Peal"):
        Worker(level=4)


def test_a_kernel_that_does_not_compile_says_why(tmp_path):
    source = tmp_path / "wrong_kernel.cpp"
    source.write_text("#error no kernel\n")
    with pytest.raises(RuntimeError, match=r"(?s)^\S*/wrong_kernel.cpp does not compile with \S+:\n.*wrong_kernel.cpp:1:2: error: .*no kernel"):
        KernelCompiler("a2a3sim").compile_incore(source)
    with pytest.raises(FileNotFoundError, match="missing_kernel.cpp"):
        KernelCompiler("a2a3sim").compile_incore(tmp_path / "missing_kernel.cpp")


def test_the_page_lists_what_is_there():
    page = (ROOT / "docs/compatibility.md").read_text()
    begin, end = page.index(compatibility.BEGIN), page.index(compatibility.END) + len(compatibility.END)
    assert page[begin:end] == compatibility.text(), "python3 -m simpler._peal.compatibility prints what belongs there"


def test_values_travel_as_numbers():
    assert [d.value for d in (ti.DataType.FLOAT32, ti.DataType.BFLOAT16, ti.DataType.UINT32, ti.DataType.FP4E2M1)] == [0, 6, 10, 14]
    assert [t.name for t in ti.TensorArgType] == ["INPUT", "OUTPUT", "INOUT", "OUTPUT_EXISTING", "NO_DEP"]
    assert [d.name for d in ti.ArgDirection] == ["SCALAR", "IN", "OUT", "INOUT"]
    assert ti.get_element_size(ti.DataType.INT16) == 2 and ti.get_element_size(7) == 8
    assert ti.scalar_to_uint64(1.0) == ti.scalar_to_uint64(ctypes.c_float(1.0)) == 0x3F800000
    assert ti.scalar_to_uint64(ctypes.c_double(1.0)) == 0x3FF0000000000000
    assert ti.scalar_to_uint64(-1) == 2**64 - 1 and ti.scalar_to_uint64(ctypes.c_int32(7)) == 7
    assert device_range_to_list("0,2-4,3") == [0, 2, 3, 4] and device_range_to_list("") == []


def test_task_args():
    tensor = ti.ContinuousTensor.make(data=64, shapes=(4, 2), dtype=ti.DataType.FLOAT32)
    args = ti.TaskArgs()
    args.add_tensor(tensor)
    args.add_tensor(tensor, ti.TensorArgType.OUTPUT)
    args.add_scalar(7)
    assert (len(args), args.tensor_count(), args.scalar_count(), args.scalar(0)) == (3, 2, 1, 7)
    assert args.tag(0) is ti.TensorArgType.INPUT and args.tensor(1).nbytes() == 32
    with pytest.raises(RuntimeError, match="before the first scalar"):
        args.add_tensor(tensor)
    with pytest.raises(IndexError):
        args.tensor(2)
    with pytest.raises(ValueError, match="without a sign"):
        args.add_scalar(-1)
    with pytest.raises(TypeError):
        args.add_scalar(1.5)


def test_buffers_have_bounds():
    buffer = Buffer(4096, 64, address_space=AddressSpace.HOST, backend_kind=BackendKind.FORK_SHM)
    tensor = buffer.tensor((4, 3), ti.DataType.FLOAT32, byte_offset=16)
    assert (tensor.ndims, tensor.strides, tensor.byte_offset, tensor.buffer.nbytes) == (2, (3, 1), 16, 64)
    for shapes, options in [((17,), {}), ((0,), {}), ((1,) * 6, {}), ((1,), {"byte_offset": 2}), ((2,), {"strides": (0,)})]:
        with pytest.raises(ValueError):
            buffer.tensor(shapes, ti.DataType.FLOAT32, **options)
    buffer.close()
    buffer.close()
    with pytest.raises(ValueError, match="closed"):
        buffer.tensor((1,), ti.DataType.FLOAT32)


def test_a_config_is_kept():
    config = ti.CallConfig()
    config.enable_chip_swimlane = True
    config.runtime_env.ring_heap = 2048
    assert config.enable_chip_swimlane == 4 and config.runtime_env.ring_heap == [2048] * 4
    with pytest.raises(ValueError, match="output_prefix"):
        config.validate()
    config.output_prefix = "x"
    config.validate()
    config.runtime_env.ring_task_window = 5
    with pytest.raises(ValueError, match="power of two"):
        config.validate()


def test_a_worker_lives_once():
    worker = Worker(level=3, platform="a2a3sim", device_ids=[0, 1], num_sub_workers=0)
    with pytest.raises(RuntimeError, match="init\\(\\) comes first"):
        worker.run(lambda *_: None)
    function = worker.register(print)
    assert function.hashid.startswith("sha256:")
    with pytest.raises(RuntimeError, match="no sub workers"):
        worker.init()
    with pytest.raises(RuntimeError, match="^run: the worker's init\\(\\) has failed; it cannot be used again: make a new one$"):
        worker.run(lambda *_: None)
    worker.close()
    worker.close()
    for name, call in [("init", worker.init), ("run", lambda: worker.run(lambda *_: None)), ("malloc", lambda: worker.malloc(4))]:
        with pytest.raises(RuntimeError, match=f"^{name}: the worker is closed; it cannot be used again: make a new one$"):
            call()
    with Worker(level=3, platform="a2a3sim", device_ids=[0, 1]) as worker:
        worker.init()
        with pytest.raises(RuntimeError, match="init: the worker is ready"):
            worker.init()

        def fails(orch, args, config):
            assert args == 5 and isinstance(config, ti.CallConfig)
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            worker.run(fails, 5)
        kept = []
        worker.run(lambda orch, *_: kept.append(orch))
        with pytest.raises(RuntimeError, match="is over"):
            kept[0].allocate_domain(name="d", workers=[0], window_size=64)


def test_domains_say_what_is_wrong():
    specs = [ti.CommBufferSpec(name="a", nbytes=12), ti.CommBufferSpec(name="b", nbytes=8)]
    with Worker(level=3, platform="a2a3sim", device_ids=[4, 5]) as worker:
        worker.init()

        def orchestrate(orch, *_):
            with orch.allocate_domain(name="d", workers=[1, 0], window_size=64, buffers=specs) as domain:
                one = domain[1]
                assert (one.domain_rank, one.domain_size, one.actual_window_size) == (0, 2, 64)
                assert one.device_ctx != 0 and one.buffers["b"].base == one.local_window_base + 12
                assert one.buffer_ptrs["a"] == one.local_window_base != domain[0].local_window_base
                with pytest.raises(KeyError):
                    domain[2]
                with pytest.raises(ValueError, match="live already"):
                    orch.allocate_domain(name="d", workers=[0], window_size=64)
            with pytest.raises(RuntimeError, match="released"):
                domain[0]
            for wrong in [
                dict(workers=[]),
                dict(workers=[0, 0]),
                dict(workers=[2]),
                dict(window_size=0),
                dict(window_size=19),
                dict(buffers=specs[:1] * 2),
            ]:
                with pytest.raises(ValueError):
                    orch.allocate_domain(**{"name": "e", "workers": [0], "window_size": 64, "buffers": specs, **wrong})

        worker.run(orchestrate)
        assert worker.live_domains == {}
