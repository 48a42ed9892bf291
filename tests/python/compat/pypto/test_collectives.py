# SPDX-License-Identifier: Apache-2.0
"""Collectives in kernels: proved, right at every length, and called again on the same windows."""

import numpy as np
import pytest
from frame import Source, numbers

REDUCE = {"Sum": np.add, "Max": np.maximum, "Min": np.minimum, "Prod": np.multiply}
NUMPY = {"FP32": np.float32, "FP16": np.float16}


def run(source, nr, n, golden, dtype=np.float32, calls=2, meaning=None):
    compiled = source.compile(nr, n)
    [verdict] = compiled.verdicts
    assert verdict.verdict == "proved", str(verdict)
    if meaning and nr > 1:
        assert verdict.meaning == f"ys is the {meaning} of xs"
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
    meaning = f"allreduce ({op.lower()})"
    run(source, nr, 17, lambda xs: np.broadcast_to(REDUCE[op].reduce(xs), xs.shape), NUMPY[dtype], meaning=meaning)


@pytest.mark.parametrize("op, dtype", [*((op, "FP32") for op in REDUCE), ("Sum", "FP16")])
@pytest.mark.parametrize("nr", [2, 3, 4])
def test_ring_allreduce(tmp_path, op, dtype, nr):
    source = allreduce(tmp_path, op, "ring", dtype, "2 * (nr - 1), nr")
    meaning = f"allreduce ({op.lower()})"
    run(source, nr, 17, lambda xs: np.broadcast_to(REDUCE[op].reduce(xs), xs.shape), NUMPY[dtype], meaning=meaning)


@pytest.mark.parametrize("mode, sig", [("mesh", "nr, 1"), ("ring", "2 * (nr - 1), nr")])
@pytest.mark.parametrize("n", [1, 4097, 65537])
def test_allreduce_of_any_length(tmp_path, mode, sig, n):
    source = allreduce(tmp_path, "Sum", mode, "FP32", sig)
    run(source, 4, n, lambda xs: np.broadcast_to(xs.sum(0), xs.shape), calls=1, meaning="allreduce (sum)")


@pytest.mark.parametrize("nr", [1, 2, 3, 4])
def test_broadcast(tmp_path, nr):
    body = f"""
    pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
    data = pld.tensor.broadcast(data, sig, root={nr - 1})
    return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
    """
    meaning = f"broadcast (root {nr - 1})"
    run(Source(tmp_path, body), nr, 9, lambda xs: np.broadcast_to(xs[nr - 1], xs.shape), meaning=meaning)


@pytest.mark.parametrize("local", ["x", "pl.load(x, [0, 0], [1, n])"])
@pytest.mark.parametrize("nr", [1, 2, 3, 4])
def test_allgather_of_a_tensor_and_of_a_tile(tmp_path, local, nr):
    body = f"""
    data = pld.tensor.allgather({local}, data, sig)
    return pl.store(pl.load(data, [0, 0], [nr, n]), [0, 0], y)
    """
    source = Source(tmp_path, body, y="nr, n", data="nr, n")
    run(source, nr, 9, lambda xs: np.broadcast_to(xs.transpose(1, 0, 2), (nr, nr, 9)), meaning="allgather")


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
    source = Source(tmp_path, body, x="nr, n", data="nr, n", y="nr, n")
    run(source, nr, 9, lambda xs: xs.transpose(1, 0, 2), meaning="all_to_all")


@pytest.mark.parametrize("nr", [1, 2, 3, 4])
def test_reduce_scatter(tmp_path, nr):
    body = """
    pl.store(pl.load(x, [0, 0], [nr, n]), [0, 0], data)
    data = pld.tensor.reduce_scatter(data, sig)
    return pl.store(pl.load(data, [me, 0], [1, n]), [0, 0], y)
    """
    source = Source(tmp_path, body, x="nr, n", data="nr, n")
    run(source, nr, 9, lambda xs: xs.sum(0)[:, None], meaning="reduce_scatter (sum)")


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

ROWS = {"x": "nr, n", "data": "nr, n"}
CALLS = {  # a call, and the frame that it stands in
    "mesh": ("data = pld.tensor.allreduce(data, sig)", {}),
    "ring": ("data = pld.tensor.allreduce(data, sig, mode='ring')", {"sig": "2 * (nr - 1), nr"}),
    "barrier": ("sig = pld.tensor.barrier(sig)", {}),
    "broadcast": ("data = pld.tensor.broadcast(data, sig, root=1)", {}),
    "allgather": ("data = pld.tensor.allgather(x, data, sig)", {"data": "nr, n"}),
    "reduce_scatter": ("data = pld.tensor.reduce_scatter(data, sig)", ROWS),
    "all_to_all": ("data = pld.tensor.all_to_all(x, data, sig)", ROWS),
}
AROUND = """
pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
BEFORE
CALL
AFTER
return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
"""
READ = "t = pld.tile.remote_load(data, (me + 1) % nr, [0, 0], [1, n])"
WRONG = {  # what is written before and after the call, and the lines that a counterexample names
    "peers are read before all have come": (READ + "\npl.store(t, [0, 0], y)", "", ["remote_load"]),
    "the own slice is written while peers read it": ("", READ + "\npl.store(t, [0, 0], data)", ["remote_load", "pl.store(t"]),
    "a peer's slice is written while it is read": (
        "",
        "pld.tensor.put(data, (me + 1) % nr, x, [0, 0], [0, 0], [1, n])",
        ["tensor.put", "pl.load(data"],
    ),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_around_a_collective_is_refuted_at_its_lines(tmp_path, call, wrong):
    before, after, lines = WRONG[wrong]
    text, frame = CALLS[call]
    body = AROUND.replace("BEFORE\n", before and before + "\n").replace("AFTER\n", after and after + "\n")
    source = Source(tmp_path, body.replace("CALL", text), **frame)
    [verdict] = source.compile(3, 9).verdicts
    assert verdict.verdict == "violated"
    assert verdict.refutations[0].kind == "data race"
    assert {source.line(part) for part in lines} <= set(verdict.lines), str(verdict)


@pytest.mark.parametrize("call", CALLS)
def test_the_same_without_what_is_wrong_is_proved_and_windows_may_hold_anything(tmp_path, call):
    """On windows that are never cleared, any number of calls; each finds what the last one left: at first what is not a number."""
    text, frame = CALLS[call]
    body = AROUND.replace("BEFORE\n", "").replace("AFTER\n", "").replace("CALL", text)
    made = Source(tmp_path, body, **frame).compile(3, 9)
    shapes = made.declared_shapes()
    with made.prepare(persistent=True, reset_persistent_windows=False) as kept:
        poison = np.full(shapes[0], np.nan).astype(np.float32)
        kept(poison, np.zeros(shapes[1], np.float32))
        for seed in range(2):
            xs, fresh, again = numbers(shapes[0], seed=seed), np.zeros(shapes[1], np.float32), np.full(shapes[1], 7, np.float32)
            made(xs, fresh)
            kept(xs, again)
            np.testing.assert_array_equal(again, fresh)
    assert [v.verdict for v in made.verdicts] == ["proved", "proved"], "\n".join(map(str, made.verdicts))


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
