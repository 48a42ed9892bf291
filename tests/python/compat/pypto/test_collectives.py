# SPDX-License-Identifier: Apache-2.0
"""Collectives in kernels: proved, right at every length, and called again on the same windows."""

import numpy as np
import pytest
from frame import Source, numbers

REDUCE = {"Sum": np.add, "Max": np.maximum, "Min": np.minimum, "Prod": np.multiply}
NUMPY = {"FP32": np.float32, "FP16": np.float16}


def run(source, nr, n, golden, dtype=np.float32, calls=2):
    compiled = source.compile(nr, n)
    [verdict] = compiled.verdicts
    assert verdict.verdict == "proved", str(verdict)
    shapes = compiled.declared_shapes()
    for seed in range(calls):
        xs, ys = numbers(shapes[0], dtype, seed), np.full(shapes[1], 77, dtype)
        compiled(xs, ys)
        np.testing.assert_array_equal(ys, golden(xs))


def allreduce(tmp_path, op, mode, dtype, sig):
    body = f"""
    data = pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
    data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.{op}, mode="{mode}")
    return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
    """
    return Source(tmp_path, body, dtype=dtype, sig=sig)


@pytest.mark.parametrize("op", REDUCE)
@pytest.mark.parametrize("dtype", NUMPY)
@pytest.mark.parametrize("nr", [1, 2, 3, 4])
def test_mesh_allreduce(tmp_path, op, dtype, nr):
    source = allreduce(tmp_path, op, "mesh", dtype, "nr, 1")
    run(source, nr, 17, lambda xs: np.broadcast_to(REDUCE[op].reduce(xs), xs.shape), NUMPY[dtype])


@pytest.mark.parametrize("op, dtype", [*((op, "FP32") for op in REDUCE), ("Sum", "FP16")])
@pytest.mark.parametrize("nr", [2, 3, 4])
def test_ring_allreduce(tmp_path, op, dtype, nr):
    source = allreduce(tmp_path, op, "ring", dtype, "2 * (nr - 1), nr")
    run(source, nr, 17, lambda xs: np.broadcast_to(REDUCE[op].reduce(xs), xs.shape), NUMPY[dtype])


@pytest.mark.parametrize("mode, sig", [("mesh", "nr, 1"), ("ring", "2 * (nr - 1), nr")])
@pytest.mark.parametrize("n", [1, 4097, 65537])
def test_allreduce_of_any_length(tmp_path, mode, sig, n):
    source = allreduce(tmp_path, "Sum", mode, "FP32", sig)
    run(source, 4, n, lambda xs: np.broadcast_to(xs.sum(0), xs.shape), calls=1)


@pytest.mark.parametrize("nr", [1, 2, 3, 4])
def test_broadcast(tmp_path, nr):
    body = f"""
    pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
    data = pld.tensor.broadcast(data, sig, root={nr - 1})
    return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
    """
    run(Source(tmp_path, body), nr, 9, lambda xs: np.broadcast_to(xs[nr - 1], xs.shape))


@pytest.mark.parametrize("local", ["x", "pl.load(x, [0, 0], [1, n])"])
@pytest.mark.parametrize("nr", [1, 2, 3, 4])
def test_allgather_of_a_tensor_and_of_a_tile(tmp_path, local, nr):
    body = f"""
    data = pld.tensor.allgather({local}, data, sig)
    return pl.store(pl.load(data, [0, 0], [nr, n]), [0, 0], y)
    """
    source = Source(tmp_path, body, y="nr, n", data="nr, n")
    run(source, nr, 9, lambda xs: np.broadcast_to(xs.transpose(1, 0, 2), (nr, nr, 9)))


@pytest.mark.parametrize("nr", [1, 2, 3, 4])
def test_reduce_scatter_twice_on_one_window_and_signal(tmp_path, nr):
    body = """
    for i in pl.range(2):
        pl.store(pl.load(x, [0, 0], [nr, n]), [0, 0], data)
        data = pld.tensor.reduce_scatter(data, sig, op=pld.ReduceOp.Sum)
        y = pl.store(pl.load(data, [me, 0], [1, n]), [i, 0], y)
    return y
    """
    source = Source(tmp_path, body, x="nr, n", data="nr, n", y="2, n")
    run(source, nr, 9, lambda xs: np.repeat(xs.sum(0)[:, None], 2, axis=1))


@pytest.mark.parametrize("nr", [1, 2, 3, 4])
def test_all_to_all(tmp_path, nr):
    body = """
    data = pld.tensor.all_to_all(x, data, sig)
    return pl.store(pl.load(data, [0, 0], [nr, n]), [0, 0], y)
    """
    run(Source(tmp_path, body, x="nr, n", data="nr, n", y="nr, n"), nr, 9, lambda xs: xs.transpose(1, 0, 2))


@pytest.mark.parametrize("nr", [1, 2, 3, 4])
def test_a_barrier_orders_what_others_read_and_its_signal_stays_zero(tmp_path, nr):
    body = """
    pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
    sig = pld.tensor.barrier(sig)
    t = pld.tile.remote_load(data, (me + 1) % nr, [0, 0], [1, n])
    pld.tensor.barrier(sig)
    pl.store(t, [0, 0], data)
    zero = pl.read(sig, [nr - 1, 0])
    return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
    """
    run(Source(tmp_path, body), nr, 9, lambda xs: np.roll(xs, -1, axis=0))


@pytest.mark.parametrize("nr", [1, 2, 3, 4])
def test_peers_read_each_other_s_results_at_once(tmp_path, nr):
    body = """
    pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
    data = pld.tensor.allreduce(data, sig)
    return pl.store(pld.tile.remote_load(data, (me + 1) % nr, [0, 0], [1, n]), [0, 0], y)
    """
    run(Source(tmp_path, body), nr, 9, lambda xs: np.broadcast_to(xs.sum(0), xs.shape))


# ---------------------------------------------------------------------------- wrong programs

WITHOUT_BARRIER = """
pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
data = pld.tensor.allreduce(data, sig)
t = pld.tile.remote_load(data, (me + 1) % nr, [0, 0], [1, n])
pl.store(t, [0, 0], data)
return pl.store(t, [0, 0], y)
"""


def test_the_window_is_free_after_a_collective_and_not_after_a_read_of_one_s_own(tmp_path):
    source = Source(tmp_path, WITHOUT_BARRIER)
    [verdict] = source.compile(3, 9).verdicts
    assert verdict.verdict == "violated"
    assert verdict.refutations[0].kind == "data race"
    assert source.line("remote_load") in verdict.lines
    assert source.line("pl.store(t, [0, 0], data)") in verdict.lines


def test_a_collective_that_some_ranks_do_not_come_to_is_refused_at_its_line(tmp_path):
    body = """
    if me == 0:
        pld.tensor.barrier(sig)
    return y
    """
    source = Source(tmp_path, body)
    with pytest.raises(ValueError, match=f"{source.path}:{source.line('barrier(sig)')}"):
        source.compile(2, 9)


def test_the_host_barrier_reuse_race_is_refuted(tmp_path):
    """Round 2 publishes into a slice that the neighbour may still read: one barrier per round is not enough."""
    body = """
    for i in pl.range(2):
        pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
        pld.tensor.barrier(sig)
        t = pld.tile.remote_load(data, (me + 1) % nr, [0, 0], [1, n])
        y = pl.store(t, [0, 0], y)
    return y
    """
    source = Source(tmp_path, body)
    [verdict] = source.compile(3, 9).verdicts
    assert verdict.verdict == "violated"
    assert source.line("remote_load") in verdict.lines
    assert source.line("[0, 0], data)") in verdict.lines
