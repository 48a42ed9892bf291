# SPDX-License-Identifier: Apache-2.0
"""Where programs of this kind are easily misunderstood, and whole programs that are wrong in one place."""

import importlib.util
from pathlib import Path

import numpy as np
import programs
import pytest
from frame import Source, compiled, numbers

SIZE = programs.SIZE


def run(source, nr, n=12, dtype=np.float32, fill=0, **frame):
    made = source.compile(nr, n)
    [verdict] = made.verdicts
    assert verdict.verdict == "proved", str(verdict)
    shapes = made.declared_shapes()
    xs, ys = numbers(shapes[0], dtype) + dtype(10), np.full(shapes[1], fill, dtype)
    made(xs, ys)
    return xs, ys


def test_a_load_of_a_window_is_of_the_own_slice(tmp_path):
    body = """
    pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
    pld.tensor.barrier(sig)
    t = pl.load(data, [0, 0], [1, n])
    pld.tensor.barrier(sig)
    return pl.store(t, [0, 0], y)
    """
    xs, ys = run(Source(tmp_path, body), 3)
    np.testing.assert_array_equal(ys, xs)


def test_a_notify_writes_the_peer_s_cell_and_a_read_looks_at_the_own_one(tmp_path):
    body = """
    if me == 0:
        pld.system.notify(sig, 1, [2, 0], 9, op=pld.NotifyOp.Set)
    pld.tensor.barrier(sig)
    pl.write(y, [0, 0], pl.read(sig, [2, 0]))
    return y
    """
    _, ys = run(Source(tmp_path, body, dtype="INT32"), 3, dtype=np.int32)
    np.testing.assert_array_equal(ys[:, 0, 0], [0, 9, 0])


def test_an_element_of_a_tile_is_read(tmp_path):
    """Where it is in the valid part, also at a place that the rank says."""
    body = """
    t = pl.load(x, [0, 0], [4, 8], [3, 4])
    pl.write(y, [0, 0], pl.read(t, [1, 2]))
    pl.write(y, [0, 1], pl.tile.read(pl.add(t, t), [2, me]))
    return y
    """
    xs, ys = run(Source(tmp_path, body, x="3, 4", y="1, 2"), 2)
    np.testing.assert_array_equal(ys[:, 0], [[xs[r, 1, 2], 2 * xs[r, 2, r]] for r in range(2)])


def test_a_signal_is_dense_memory(tmp_path):
    """[i, j] is element i * cols + j, also for those who load all of it."""
    body = """
    pld.system.notify(sig, me, [1, 2], 5, op=pld.NotifyOp.Set)
    pld.system.notify(sig, me, [0, 1], 4, op=pld.NotifyOp.AtomicAdd)
    y = pl.store(pl.load(sig, [0, 0], [2, 3]), [0, 0], y)
    return y
    """
    _, ys = run(Source(tmp_path, body, x="2, 3", y="2, 3", sig="2, 3", dtype="INT32"), 2, dtype=np.int32)
    np.testing.assert_array_equal(ys, [[[0, 4, 0], [0, 0, 5]]] * 2)


def test_a_tensor_that_is_computed_binds_a_name_and_writes_nothing(tmp_path):
    body = """
    y = pl.tensor.add(x, x)
    return x
    """
    _, ys = run(Source(tmp_path, body), 2, fill=9)
    assert (ys == 9).all()


def test_windows_declared_in_are_written(tmp_path):
    """And a store whose value nobody takes counts, as does one that `_` takes."""
    body = """
    pl.store(pl.load(x, [0, 0], [1, 4]), [0, 0], data)
    _ = pl.store(pl.load(x, [0, 4], [1, 8]), [0, 4], data)
    return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
    """
    xs, ys = run(Source(tmp_path, body), 2)
    np.testing.assert_array_equal(ys, xs)


def test_the_result_of_a_carried_loop_has_the_name_that_was_yielded(tmp_path):
    """With no rounds it is what was carried in; the old name is the same memory."""
    body = """
    for i, (out,) in pl.range(0, init_values=(y,)):
        out = pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], out)
        done = pl.yield_(out)
    done = pl.store(pl.load(x, [0, 0], [1, 4]), [0, 0], done)
    y = pl.store(pl.load(x, [0, 8], [1, 4]), [0, 8], y)
    return done
    """
    xs, ys = run(Source(tmp_path, body), 2, fill=9)
    expected = xs.copy()
    expected[:, :, 4:8] = 9
    np.testing.assert_array_equal(ys, expected)


def test_names_leak_from_loops_and_branches(tmp_path):
    body = """
    for i in pl.range(3):
        t = pl.load(x, [0, i], [1, 1])
    if me == 0:
        u = pl.load(x, [0, 4], [1, 1])
    else:
        u = pl.load(x, [0, 5], [1, 1])
    y = pl.store(t, [0, 0], y)
    y = pl.store(u, [0, 1], y)
    return y
    """
    xs, ys = run(Source(tmp_path, body), 2)
    np.testing.assert_array_equal(ys[:, 0, 0], xs[:, 0, 2])
    np.testing.assert_array_equal(ys[:, 0, 1], [xs[0, 0, 4], xs[1, 0, 5]])


def test_a_number_under_a_name_is_known_unless_the_name_is_given_again(tmp_path):
    body = """
    half = n // 2
    t = pl.load(x, [0, 0], [1, half])
    at = 0
    for i in pl.range(2):
        y = pl.store(t, [0, at], y)
        at = at + half
    if me == 1:
        me = pl.const(7, pl.INT32)
    pl.write(y, [0, 0], me)
    return y
    """
    xs, ys = run(Source(tmp_path, body, dtype="INT32"), 2, dtype=np.int32)
    np.testing.assert_array_equal(ys[:, 0, 6:], xs[:, 0, :6])
    np.testing.assert_array_equal(ys[:, 0, 0], [0, 7])


def test_ranks_are_numbers_of_any_type(tmp_path):
    body = """
    scale = pl.cast(me + 1, pl.FP32)
    y = pl.store(pl.mul(pl.load(x, [0, 0], [1, n]), scale), [0, 0], y)
    pl.write(y, [0, 0], pl.cast(me * 2, target_type=pl.FP32))
    return y
    """
    xs, ys = run(Source(tmp_path, body), 3)
    expected = xs * np.arange(1, 4, dtype=np.float32)[:, None, None]
    expected[:, 0, 0] = [0, 2, 4]
    np.testing.assert_array_equal(ys, expected)


def test_parts_may_begin_where_the_rank_says(tmp_path):
    body = """
    row = data[me:me + 1, 2:8]
    pl.store(pl.load(x, [0, 0], [1, 6]), [0, 0], row)
    y[0:nr, 0:n] = pl.load(data, [0, 0], [nr, n])
    y[me, 0] = x[0, 6]
    return y
    """
    xs, ys = run(Source(tmp_path, body, y="nr, n", data="nr, n"), 3)
    expected = np.zeros_like(ys)
    for r in range(3):
        expected[r, r, 2:8] = xs[r, 0, :6]
        expected[r, r, 0] = xs[r, 0, 6]
    np.testing.assert_array_equal(ys, expected)


PEERS = """
ctx = pld.get_comm_ctx(data)
mine = pld.rank(ctx)
root: pl.Scalar[pl.INT32] = 1
one = pl.const(1, pl.INT32)
pld.tensor.put(data, PEER, x)
pld.system.notify(sig, PEER, [0, 0], VALUE, op=pld.NotifyOp.AtomicAdd)
pld.system.wait(sig, [0, 0], EXPECTED, cmp=pld.WaitCmp.Ge)
return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
"""


@pytest.mark.parametrize("peer", ["(me + 1) % nr", "(mine + 1) % nr", "(pld.rank(ctx) + nr - 1) % pld.nranks(ctx)", "1 - me"])
@pytest.mark.parametrize("value, expected", [("1", "one"), ("one", "1"), ("root", "pl.min(1, 2)"), ("nr - 1", "pl.cast(root, pl.INDEX)")])
def test_peers_values_and_expectations_of_every_kind(tmp_path, peer, value, expected):
    body = PEERS.replace("PEER", peer).replace("VALUE", value).replace("EXPECTED", expected)
    xs, ys = run(Source(tmp_path, body), 2)
    np.testing.assert_array_equal(ys, xs[::-1])


def test_a_program_for_two_ranks_with_a_symbol_in_its_signature(tmp_path):
    """The kernel's signal is [NR, 1]; NR comes from the argument."""
    body = """
    other = (me + 1) % 2
    pld.tensor.put(data, other, x)
    pld.system.notify(sig, other, [NR - 1, 0], 1, op=pld.NotifyOp.Set)
    pld.system.wait(sig, [1, 0], 1, cmp=pld.WaitCmp.Ge)
    return pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
    """
    source = Source(tmp_path, body)
    text = source.text.replace("sig: pl.InOut[pld.DistributedTensor[[nr, 1]", "sig: pl.InOut[pld.DistributedTensor[[NR, 1]")
    source.path.write_text(text.replace("def build(nr, n):", 'NR = pl.dynamic("NR")\n\n\ndef build(nr, n):'))
    xs, ys = run(source, 2)
    np.testing.assert_array_equal(ys, xs[::-1])


@pytest.mark.parametrize("rows", [8, 16])
def test_the_valid_part_of_a_tile_moves(tmp_path, rows):
    body = f"""
    t = pl.load(x, [0, 0], [{rows}, 1], valid_shape=[1, 1])
    pld.tile.remote_store(t, data, (me + 1) % nr, [0, 3])
    pld.tensor.barrier(sig)
    got = pl.load(data, [0, 0], [1, n])
    return pl.store(got, [0, 0], y)
    """
    xs, ys = run(Source(tmp_path, body, x="1, 1"), 2, n=5)
    np.testing.assert_array_equal(ys[:, 0, 3], xs[::-1, 0, 0])
    assert ys.sum() == ys[:, 0, 3].sum()


def test_a_window_of_which_a_peer_wrote_one_row_is_zero_elsewhere(tmp_path):
    body = """
    pld.tensor.put(data, (me + 1) % nr, x, [1, 0], [0, 0], [1, n], atomic=pld.AtomicType.Add)
    pld.tensor.barrier(sig)
    return pl.store(pl.load(data, [0, 0], [3, n]), [0, 0], y)
    """
    xs, ys = run(Source(tmp_path, body, y="3, n", data="3, n"), 3, fill=9)
    np.testing.assert_array_equal(ys[:, 1:2], np.roll(xs, 1, axis=0))
    assert not ys[:, 0].any() and not ys[:, 2].any()


HOST_ROUNDS = """
            for i in pl.range(2):
                for r in pl.range(pld.world_size()):
                    self.publish(xs[r], data, sig, device=r)
                pld.tensor.barrier(sig)
                for r in pl.range(pld.world_size()):
                    self.fetch(ys[r], data, r, device=r)
"""


def test_the_host_s_barrier_that_serves_two_rounds_is_a_race(tmp_path):
    """Round 2's publish may overwrite what the neighbour still reads in round 1; with a second barrier it may not."""
    text = f'''\
import pypto.language as pl
import pypto.language.distributed as pld


def build(nr, n):
    @pl.program
    class Tested:
        @pl.function(type=pl.FunctionType.InCore)
        def put_in(self, x: pl.Tensor[[1, n], pl.FP32], data: pld.DistributedTensor[[1, n], pl.FP32]):
            pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)

        @pl.function(type=pl.FunctionType.InCore)
        def take(self, y: pl.Out[pl.Tensor[[1, n], pl.FP32]], data: pld.DistributedTensor[[1, n], pl.FP32], me: pl.Scalar[pl.INT32]):
            return pl.store(pld.tile.remote_load(data, (me + 1) % nr, [0, 0], [1, n]), [0, 0], y)

        @pl.function(type=pl.FunctionType.Orchestration)
        def publish(
            self,
            x: pl.Tensor[[1, n], pl.FP32],
            data: pld.DistributedTensor[[1, n], pl.FP32],
            sig: pld.DistributedTensor[[nr], pl.INT32],
        ):
            self.put_in(x, data)

        @pl.function(type=pl.FunctionType.Orchestration)
        def fetch(self, y: pl.Out[pl.Tensor[[1, n], pl.FP32]], data: pld.DistributedTensor[[1, n], pl.FP32], me: pl.Scalar[pl.INT32]):
            return self.take(y, data, me)

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, xs: pl.Tensor[[nr, 1, n], pl.FP32], ys: pl.Out[pl.Tensor[[nr, 1, n], pl.FP32]]):
            data_buf = pld.alloc_window_buffer(n * pl.FP32.get_byte())
            sig_buf = pld.alloc_window_buffer(nr * pl.INT32.get_byte())
            data = pld.window(data_buf, [1, n], dtype=pl.FP32)
            sig = pld.window(sig_buf, [nr], dtype=pl.INT32)
{HOST_ROUNDS}
            return ys

    return Tested
'''
    again = text.replace("self.fetch(ys[r], data, r, device=r)", "self.fetch(ys[r], data, r, device=r)\n                pld.tensor.barrier(sig)")
    for each, wanted in ((text, "violated"), (again, "proved")):
        path = tmp_path / f"{wanted}.py"
        path.write_text(each)
        [verdict] = compiled(loaded(path).build(3, 4), 3).verdicts
        assert verdict.verdict == wanted, str(verdict)
        if wanted == "violated":
            lines = [i for i, line in enumerate(each.splitlines(), 1) if "[0, 0], data)" in line or "remote_load" in line]
            assert verdict.lines == lines


# ---------------------------------------------------------------------------- whole programs, wrong in one place


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TEXT = Path(programs.__file__).read_text()
PROGRAMS = {  # how it is built, on how many devices, and mutants: old, new, kind, where
    "mesh_allreduce": (
        lambda m: m.mesh_allreduce(3),
        3,
        [
            ("offsets=[my_rank, 0], value=1", "offsets=[peer, 0], value=1", "deadlock", "system.wait"),
            ("expected=1, cmp", "expected=0, cmp", "data race", "theirs ="),
            ("data = pl.store(mine, [0, 0], data)", "pld.tile.remote_store(mine, data, 0, [0, 0])", "data race", "remote_store"),
        ],
    ),
    "two_kernels": (
        lambda m: m.two_kernels(3),
        3,
        [
            ("pld.system.wait(sig, [0, 0], 1", "pld.system.wait(sig, [0, 0], 0", "data race", "remote_store"),
            ("pld.system.notify(sig, to, [0, 0], 1", "pld.system.notify(sig, to, [0, 0], 0", "deadlock", "system.wait"),
            ("(r + 1) % nr, device=r", "0, device=r", None, "remote_store"),
        ],
    ),
    "DynamicAllgather": (
        lambda m: m.DynamicAllgather,
        3,
        [
            ("[my_rank, 0], 1, op=pld.NotifyOp.Set", "[peer, 0], 1, op=pld.NotifyOp.Set", "deadlock", "system.wait"),
            ("[peer, 0], 1, cmp", "[peer, 0], 0, cmp", "data race", "remote_load"),
            ("[peer, 0], 1, cmp", "[peer, 0], 2, cmp", "deadlock", "system.wait"),
        ],
    ),
    "pairs": (
        lambda m: m.pairs(),
        4,
        [
            ("            pld.tensor.barrier(sig)\n", "", "data race", "tensor.put"),
            ("pld.tensor.put(data, 1 - me, x)", "pld.tensor.put(data, 0, x)", "data race", "tensor.put"),
            ("me = pld.rank(pld.get_comm_ctx(data))", "me = pld.rank(pld.get_comm_ctx(data)) // 2", "data race", "tensor.put"),
        ],
    ),
    "pairs_and_all": (
        lambda m: m.pairs_and_all(),
        4,
        [
            ("pld.system.wait(pair_sig, [other, 0], 1", "pld.system.wait(pair_sig, [other, 0], 0", "data race", "tensor.put"),
            ("across = (me + 2)", "across = (me + 1)", "deadlock", "wait(world_sig"),
            ("pld.system.notify(pair_sig, other, [mine, 0]", "pld.system.notify(pair_sig, mine, [mine, 0]", "deadlock", "wait(pair_sig"),
        ],
    ),
    "total_and_own": (
        lambda m: m.total_and_own(3, m.pld.ReduceOp.Sum, m.pl.FP32),
        3,
        [
            ("data = pl.store(mine, [0, 0], data)", "pld.tile.remote_store(mine, data, 0, [0, 0])", "data race", "remote_store"),
            ("mine = pl.load(x, [0, 0], [1, n])", "mine = pld.tile.remote_load(data, (pld.rank(pld.get_comm_ctx(data)) + 1) % nr, [0, 0], [1, n])", "data race", "remote_load"),
            ("total = pl.store(", "pld.tensor.put(data, 0, x)\n            total = pl.store(", "data race", "tensor.put"),
        ],
    ),
    "scalars_given": (
        lambda m: m.scalars_given(3),
        3,
        [
            ("pld.system.wait(sig, [0, 0], tag", "pld.system.wait(sig, [0, 0], 0", "data race", "remote_store"),
            ("pld.system.notify(sig, peer, [0, 0], tag", "pld.system.notify(sig, peer, [0, 0], tag - 1", "deadlock", "system.wait"),
            ("if me == root:", "if me != root:", "data race", "remote_store"),
        ],
    ),
    "two_roles": (
        lambda m: m.two_roles(),
        2,
        [
            ("pld.system.notify(sig, 1, [0, 0], 1", "pld.system.notify(sig, 0, [0, 0], 1", "deadlock", "system.wait"),
            ("pld.system.wait(sig, [0, 0], 1", "pld.system.wait(sig, [0, 0], 0", "data race", "tensor.get"),
            ("pld.tensor.put(data, 1, x)\n", "pld.system.notify(sig, 1, [0, 0], 1, op=pld.NotifyOp.Set)\n            pld.tensor.put(data, 1, x)\n", "data race", "tensor.put"),
        ],
    ),
}
MUTANTS = [(name, i) for name, (_, _, mutants) in PROGRAMS.items() for i in range(len(mutants))]


def section(name):
    """Where a program stands in the text."""
    begin = TEXT.index(f"def {name}(") if f"def {name}(" in TEXT else TEXT.index(f"class {name}:")
    rest = TEXT.find("\n\n\n", begin)
    return begin, rest if rest > 0 else len(TEXT)


@pytest.mark.parametrize("name, i", MUTANTS)
def test_whole_programs_are_refuted_at_their_line(tmp_path, name, i):
    build, nr, mutants = PROGRAMS[name]
    old, new, kind, where = mutants[i]
    begin, end = section(name)
    part = TEXT[begin:end]
    assert part.count(old) == 1, old
    text = TEXT[:begin] + part.replace(old, new) + TEXT[end:]
    path = tmp_path / "mutated.py"
    path.write_text(text)
    made = compiled(build(loaded(path)), nr)
    if not made.verdicts:  # symbols: known when the arguments are
        made.executable([[nr, 1, SIZE], [nr, 1, nr * SIZE]], {}, True)
    verdict = next((v for v in made.verdicts if v.verdict != "proved"), made.verdicts[0])
    assert verdict.verdict == "violated", str(verdict)
    assert kind is None or verdict.refutations[0].kind == kind, str(verdict)
    first = text[:begin].count("\n") + 1
    lines = [n for n, line in enumerate(text.splitlines(), 1) if where in line and first <= n]
    assert lines[0] in verdict.lines, (lines[0], str(verdict))
