# SPDX-License-Identifier: Apache-2.0
"""The same paths with tensors of torch: `make test-torch` runs this."""

import jit_programs
import numpy as np
import programs
import pytest
import test_host_work
import torch
from frame import Source, compiled
from pypto.ir.distributed_compiled_program import DistributedConfig
from pypto.runtime import RunConfig

RANKS = [1, 2, 3, 4]


@pytest.mark.parametrize("nr", RANKS)
@pytest.mark.parametrize("shared", [False, True])
def test_in_place_and_returned(nr, shared):
    made = compiled(programs.mesh_allreduce(nr), nr)
    xs = torch.randn(nr, 1, programs.SIZE)
    ys = torch.full_like(xs, 5.0)
    if shared:
        xs.share_memory_()
        ys.share_memory_()
    expected = xs.sum(dim=0).expand_as(xs)
    assert made(xs, ys) is None
    assert torch.allclose(ys, expected, rtol=1e-5, atol=1e-5)
    returned = made(xs)
    assert isinstance(returned, torch.Tensor)
    assert torch.equal(returned, ys)


@pytest.mark.parametrize("op, golden", [("Sum", "sum"), ("Max", "amax"), ("Min", "amin"), ("Prod", "prod")])
def test_half_precision(tmp_path, op, golden):
    body = f"""
    pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
    data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.{op})
    return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
    """
    made = Source(tmp_path, body, dtype="FP16").compile(4, 17)
    xs = torch.rand(4, 1, 17).to(torch.float16)
    ys = torch.zeros_like(xs)
    made(xs, ys)
    expected = getattr(xs.float(), golden)(dim=0).to(torch.float16).expand_as(xs)
    assert torch.allclose(ys, expected, rtol=2e-2, atol=2e-2)


def test_bf16_and_integers(tmp_path):
    body = """
    pld.tensor.put(data, (me + 1) % nr, x)
    pld.tensor.barrier(sig)
    return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
    """
    for name, dtype in (("BF16", torch.bfloat16), ("INT32", torch.int32)):
        made = Source(tmp_path, body, dtype=name).compile(3, 12)
        xs = torch.arange(36).reshape(3, 1, 12).to(dtype)
        ys = torch.zeros_like(xs)
        made(xs, ys)
        assert torch.equal(ys, xs.roll(1, 0))


def test_a_worker_that_stays(tmp_path):
    made = compiled(programs.DynamicAllgather, 2)
    xs, ys = torch.randn(2, 1, programs.SIZE), torch.zeros(2, 1, 2 * programs.SIZE)
    with made.prepare(persistent=True) as worker:
        for _ in range(3):
            ys.zero_()
            worker(xs, ys)
            assert torch.equal(ys, xs.reshape(1, 1, -1).expand_as(ys))


def test_arguments_that_cannot_be():
    made = compiled(programs.mesh_allreduce(2), 2)
    xs = torch.zeros(2, 1, programs.SIZE)
    with pytest.raises(TypeError, match="must have elements of float32, found float64"):
        made(xs.double(), xs)
    with pytest.raises(TypeError, match="'xs' is not contiguous"):
        made(torch.zeros(2, 1, 2 * programs.SIZE)[:, :, ::2], xs)


def test_numpy_and_torch_in_one_call():
    made = compiled(programs.mesh_allreduce(2), 2)
    xs, ys = torch.ones(2, 1, programs.SIZE), np.zeros((2, 1, programs.SIZE), np.float32)
    made(xs, ys)
    assert (ys == 2).all()


def test_sub_workers_memory_of_the_host_and_of_devices():
    made = compiled(test_host_work.relay(2, test_host_work.add), 2)
    xs, ys = torch.ones(2, 1, programs.SIZE), torch.zeros(2, 1, programs.SIZE)
    made(xs, ys)
    expected = (2 * xs + (2 * xs).sum() + 5).roll(1, 0)
    assert torch.equal(ys, expected)
    with made.prepare() as worker:
        rows, out = worker.alloc_stacked_tensor(xs), worker.alloc_tensor((2, 1, programs.SIZE), torch.float32)
        worker(rows, out)
        back = torch.zeros_like(xs)
        worker.copy_stacked_from(rows, back)
        assert torch.equal(back, xs)
        call = worker.submit(made, xs, ys.zero_())
        call.result()
    assert torch.equal(ys, expected)


def test_functions_take_the_shapes_of_tensors():
    config = RunConfig(distributed_config=DistributedConfig(device_ids=[0, 1, 2]))
    for dtype in (torch.float32, torch.float16, torch.int32):
        xs = torch.arange(30).reshape(3, 2, 5).to(dtype)
        ys = torch.zeros_like(xs)
        jit_programs.difference(3)(xs, ys, config=config)
        assert torch.equal(ys, xs - xs.roll(1, 0))
