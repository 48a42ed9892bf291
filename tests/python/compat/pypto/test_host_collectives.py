# SPDX-License-Identifier: Apache-2.0
"""Collectives that the host asks for between dispatches."""

import linecache

import numpy as np
import pytest
from frame import compiled, numbers
from pypto import ir
from pypto.ir.distributed_compiled_program import DistributedConfig
from pypto.language.parser.diagnostics import InvalidOperationError

TEXT = '''\
import pypto.language as pl
import pypto.language.distributed as pld


def build(nr, n):
    @pl.program
    class HostCollective:
        @pl.function(type=pl.FunctionType.InCore)
        def put_in(self, x: pl.Tensor[[ROWS, n], pl.FP32], data: pld.DistributedTensor[[ROWS, n], pl.FP32]):
            pl.store(pl.load(x, [0, 0], [ROWS, n]), [0, 0], data)

        @pl.function(type=pl.FunctionType.InCore)
        def take_out(self, y: pl.Out[pl.Tensor[[OUT, n], pl.FP32]], data: pld.DistributedTensor[[OUT, n], pl.FP32]):
            return pl.store(pl.load(data, [0, 0], [OUT, n]), [0, 0], y)

        @pl.function(type=pl.FunctionType.InCore)
        def read_next(self, y: pl.Out[pl.Tensor[[OUT, n], pl.FP32]], data: pld.DistributedTensor[[OUT, n], pl.FP32], me: pl.Scalar[pl.INT32]):
            return pl.store(pld.tile.remote_load(data, (me + 1) % nr, [0, 0], [1, n]), [0, 0], y)

        @pl.function(type=pl.FunctionType.InCore)
        def write_own(self, y: pl.Tensor[[OUT, n], pl.FP32], data: pld.DistributedTensor[[OUT, n], pl.FP32]):
            pl.store(pl.load(y, [0, 0], [1, n]), [0, 0], data)

        @pl.function(type=pl.FunctionType.InCore)
        def write_next(self, y: pl.Tensor[[OUT, n], pl.FP32], data: pld.DistributedTensor[[OUT, n], pl.FP32], me: pl.Scalar[pl.INT32]):
            pld.tensor.put(data, (me + 1) % nr, y, [0, 0], [0, 0], [1, n])

        @pl.function(type=pl.FunctionType.InCore)
        def nothing(self, s: pld.DistributedTensor[[SIG], pl.INT32]):
            pass

        @pl.function(type=pl.FunctionType.Orchestration)
        def see(self, s: pld.DistributedTensor[[SIG], pl.INT32]):
            self.nothing(s)

        @pl.function(type=pl.FunctionType.Orchestration)
        def peek(self, y: pl.Out[pl.Tensor[[OUT, n], pl.FP32]], data: pld.DistributedTensor[[OUT, n], pl.FP32], me: pl.Scalar[pl.INT32]):
            return self.read_next(y, data, me)

        @pl.function(type=pl.FunctionType.Orchestration)
        def restage(self, y: pl.Tensor[[OUT, n], pl.FP32], data: pld.DistributedTensor[[OUT, n], pl.FP32]):
            self.write_own(y, data)

        @pl.function(type=pl.FunctionType.Orchestration)
        def push(self, y: pl.Tensor[[OUT, n], pl.FP32], data: pld.DistributedTensor[[OUT, n], pl.FP32], me: pl.Scalar[pl.INT32]):
            self.write_next(y, data, me)

        @pl.function(type=pl.FunctionType.Orchestration)
        def begin(self, x: pl.Tensor[[ROWS, n], pl.FP32], data: pld.DistributedTensor[[ROWS, n], pl.FP32]):
            self.put_in(x, data)

        @pl.function(type=pl.FunctionType.Orchestration)
        def end(self, y: pl.Out[pl.Tensor[[OUT, n], pl.FP32]], data: pld.DistributedTensor[[OUT, n], pl.FP32]):
            return self.take_out(y, data)

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, xs: pl.Tensor[[nr, ROWS, n], pl.FP32], ys: pl.Out[pl.Tensor[[nr, OUT, n], pl.FP32]]):
            a_buf = pld.alloc_window_buffer(ROWS * n * pl.FP32.get_byte())
            b_buf = pld.alloc_window_buffer(OUT * n * pl.FP32.get_byte())
            s_buf = pld.alloc_window_buffer([SIG], dtype=pl.INT32)
            a = pld.window(a_buf, [ROWS, n], dtype=pl.FP32)
            b = pld.window(b_buf, [OUT, n], dtype=pl.FP32)
            s = pld.window(s_buf, [SIG], dtype=pl.INT32)
            for r in pl.range(pld.world_size()):
                self.begin(xs[r], a, device=r)
            BEFORE
            CALL
            AFTER
            for r in pl.range(pld.world_size()):
                self.end(ys[r], RESULT, device=r)
            return ys

    return HostCollective
'''


def program(tmp_path, call, nr, n=12, rows="1", out="1", sig="nr", result="a", before="", after=""):
    text = TEXT.replace("BEFORE", before).replace("CALL", call).replace("AFTER", after).replace("ROWS", rows).replace("OUT", out)
    text = text.replace("SIG", sig).replace("RESULT", result)
    if result == "a":
        text = "".join(line for line in text.splitlines(keepends=True) if "b_buf" not in line)
    if not call or " s" not in call and "(s" not in call:
        text = "".join(line for line in text.splitlines(keepends=True) if "s_buf" not in line)
    path = tmp_path / "host_collective.py"
    path.write_text(text)
    linecache.checkcache(str(path))
    names = {}
    exec(compile(text, str(path), "exec"), names)
    return names["build"](nr, n)


def rank_sums(xs):
    return np.broadcast_to(xs.sum(0), xs.shape)


def own_row_of_sums(xs):
    """What is in the others is not said: NaN."""
    expected = np.full_like(xs, np.nan)
    for r, row in enumerate(xs.sum(0)):
        expected[r, r] = row
    return expected


def assert_right(ys, expected):
    np.testing.assert_array_equal(ys, np.where(np.isnan(expected), ys, expected))


SEE = "for r in pl.range(pld.world_size()):\n                self.see(s, device=r)\n            "  # a barrier's signal is a dispatch's, too
CALLS = {
    "allreduce": ("a = pld.tensor.allreduce(a, s, op=pld.ReduceOp.Sum)", {}, rank_sums),
    "without a signal": ("pld.tensor.allreduce(a, op=pld.ReduceOp.Sum, core_num=4)", {}, rank_sums),
    "ring": ("a = pld.tensor.allreduce(a, s, mode='ring')", {"sig": "2 * (nr - 1) + 1, nr"}, rank_sums),
    "twice": ("for i in pl.range(2):\n                pld.tensor.allreduce(a, s)", {}, lambda xs: len(xs) * rank_sums(xs)),
    "max": ("a = pld.tensor.allreduce(a, s, op=pld.ReduceOp.Max)", {}, lambda xs: np.broadcast_to(xs.max(0), xs.shape)),
    "min": ("a = pld.tensor.allreduce(a, s, op=pld.ReduceOp.Min)", {}, lambda xs: np.broadcast_to(xs.min(0), xs.shape)),
    "prod": ("a = pld.tensor.allreduce(a, s, op=pld.ReduceOp.Prod)", {}, lambda xs: np.broadcast_to(xs.prod(0), xs.shape)),
    "barrier": (SEE + "pld.tensor.barrier(s)", {}, lambda xs: xs),
    "broadcast": ("a = pld.tensor.broadcast(a, s, root=nr - 1)", {}, lambda xs: np.broadcast_to(xs[-1], xs.shape)),
    "reduce_scatter": ("a = pld.tensor.reduce_scatter(a, s)", {"rows": "nr", "out": "nr"}, own_row_of_sums),
    "allgather": (
        "b = pld.tensor.allgather(a, b, s)",
        {"out": "nr", "result": "b"},
        lambda xs: np.broadcast_to(xs.transpose(1, 0, 2), (len(xs), len(xs), xs.shape[2])),
    ),
    "all_to_all": (
        "b = pld.tensor.all_to_all(a, b, s)",
        {"rows": "nr", "out": "nr", "result": "b"},
        lambda xs: xs.transpose(1, 0, 2),
    ),
}


RIGHT = [(name, nr) for name in CALLS for nr in (1, 2, 3, 4)]


@pytest.mark.parametrize("name, nr", RIGHT)
def test_is_proved_and_right(tmp_path, name, nr):
    call, frame, golden = CALLS[name]
    made = compiled(program(tmp_path, call, nr, **frame), nr)
    assert [v.verdict for v in made.verdicts] == ["proved"]
    shapes = made.declared_shapes()
    for seed in range(2):
        xs, ys = numbers(shapes[0], seed=seed), np.full(shapes[1], 9, np.float32)
        made(xs, ys)
        assert_right(ys, golden(xs))


PEEK = "for r in pl.range(pld.world_size()):\n                self.peek(ys[r], RESULT, r, device=r)"
RESTAGE = "for r in pl.range(pld.world_size()):\n                self.restage(ys[r], RESULT, device=r)"
PUSH = "for r in pl.range(pld.world_size()):\n                self.push(ys[r], RESULT, r, device=r)"
WRONG = {  # what is dispatched before and after the call, and the lines that a counterexample names
    "peers are read before all have come": (PEEK, "", ["remote_load"]),
    "the own slice is staged again while peers read it": ("", PEEK + "\n            " + RESTAGE, ["remote_load", "pl.store(pl.load(y"]),
    "a peer's slice is written while it is read": ("", PUSH, ["tensor.put", "pl.load(data"]),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_around_a_collective_is_refuted_at_its_lines(tmp_path, name, wrong):
    before, after, parts = WRONG[wrong]
    call, frame, _ = CALLS[name]
    made = compiled(program(tmp_path, call, 3, before=before, after=after, **frame), 3)
    [verdict] = made.verdicts
    assert (verdict.verdict, verdict.refutations[0].kind) == ("violated", "data race"), str(verdict)
    text = (tmp_path / "host_collective.py").read_text().splitlines()
    lines = {next(i for i, line in enumerate(text, 1) if part in line) for part in parts}
    assert lines <= set(verdict.lines), str(verdict)


@pytest.mark.parametrize("name", CALLS)
def test_peers_may_read_the_result_at_once_and_windows_may_hold_anything(tmp_path, name):
    """On windows that are never cleared, any number of calls; each finds what the last one left: at first what is not a number."""
    call, frame, golden = CALLS[name]
    made = compiled(program(tmp_path, call, 3, after=PEEK, **frame), 3)
    shapes = made.declared_shapes()
    with made.prepare(persistent=True, reset_persistent_windows=False) as kept:
        kept(np.full(shapes[0], np.nan, np.float32), np.zeros(shapes[1], np.float32))
        for seed in range(2):
            xs, ys = numbers(shapes[0], seed=seed), np.full(shapes[1], 9, np.float32)
            kept(xs, ys)
            assert_right(ys, golden(xs))
    verdicts = [v.verdict for v in made.verdicts]
    assert set(verdicts) == {"proved"}, "\n".join(map(str, made.verdicts))


@pytest.mark.parametrize(
    "call, error, words",
    [
        ("pld.tensor.allreduce(a, a)", InvalidOperationError, "INT32"),
        ("for i in pl.range(2):\n                pld.tensor.allreduce(a)", ValueError, "not supported inside a for/while"),
        ("pld.tensor.allreduce(a, mode='ring')", InvalidOperationError, "requires an explicit signal"),
        ("pld.tensor.barrier(s)", ValueError, "'s_buf' is not consumed by any chip_orch dispatch"),
        ("pld.tensor.broadcast(a, s, root=5)", ValueError, r"root \(5\) must be a valid rank in \[0, 2\)"),
        ("pld.tensor.allreduce(xs[0], s)", InvalidOperationError, "DistributedTensor"),
        ("pld.tensor.allreduce(a, s, core_num=2)", InvalidOperationError, "rank-1 signal is valid only when one signal lane is required"),
        ("pld.tensor.allreduce(a, s, op=pld.ReduceOp.Max, mode='ring')", InvalidOperationError, "takes FP32 and ReduceOp.Sum"),
        ("pld.tensor.allreduce(a, s, mode='ring', core_num=2)", InvalidOperationError, 'mode="ring" does not support core_num > 1'),
    ],
)
def test_what_is_refused(tmp_path, call, error, words):
    with pytest.raises(error, match=words):
        compiled(program(tmp_path, call, 2), 2)


@pytest.mark.parametrize(
    "call, frame, words",
    [
        ("pld.tensor.allreduce(a, s, core_num=4)", {"sig": "nr, 2"}, "must be at least the required lane count"),
        ("pld.tensor.allreduce(a, s, mode='ring')", {"sig": "1, nr"}, r"must be at least 2\*\(NR-1\)"),
    ],
)
def test_signals_that_do_not_suffice(tmp_path, call, frame, words):
    with pytest.raises(InvalidOperationError, match=words):
        program(tmp_path, call, 3, **frame)


def test_what_is_known_when_the_devices_are(tmp_path):
    ring = program(tmp_path, "pld.tensor.allreduce(a, s, mode='ring')", 3, n=7, sig="2 * (nr - 1) + 1, nr")
    with pytest.raises(ValueError, match="exact multiple of the rank count: 7 elements for 3 ranks"):
        compiled(ring, 3)
    with pytest.raises(ValueError, match="less than the participating device count, 3"):
        compiled(program(tmp_path, "pld.tensor.allreduce(a, s)", 3, sig="2"), 3)
    many = program(tmp_path, "pld.tensor.allreduce(a, s, mode='ring')", 17, n=17, sig="2 * (nr - 1) + 1, nr")
    with pytest.raises(ValueError, match="16 or fewer ranks, found 17"):
        compiled(many, 17)
    nested = "for r in pl.range(pld.world_size()):\n                self.end(ys[r], pld.tensor.allreduce(a, s), device=r)"
    with pytest.raises(ValueError, match="must be a direct assignment"):
        compiled(program(tmp_path, nested, 2), 2)


def test_all_to_all_v_is_refused_when_it_is_compiled(tmp_path):
    counts = "".join(
        f"{name}_buf = pld.alloc_window_buffer(4 * nr)\n            {name} = pld.window({name}_buf, [nr, 1], dtype=pl.INT32)\n            "
        for name in ("sent", "got")
    )
    call = f"{counts}b = pld.tensor.all_to_all_v(a, b, s, sent, got)"
    made = program(tmp_path, call, 2, rows="nr", out="nr", result="b", sig="nr, 1")
    with pytest.raises(ValueError, match="how much it moves is read from memory"):
        compiled(made, 2)


def test_directories_of_the_host_s_collectives(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path / "built"))
    made = compiled(program(tmp_path, "pld.tensor.broadcast(a, s, root=0)\n            pld.tensor.allreduce(a, s)", 2), 2)
    found = sorted(d.name for d in (made.output_dir / "next_levels").iterdir())
    assert found == ["builtin.tensor.allreduce__sum__fp32", "builtin.tensor.broadcast__root0__fp32"]
    assert all((made.output_dir / "next_levels" / d / "kernel_config.py").is_file() for d in found)


SIGNAL_READ = '''
        @pl.function(type=pl.FunctionType.InCore)
        def look(self, y: pl.Out[pl.Tensor[[OUT, n], pl.FP32]], z: pl.Out[pl.Tensor[[nr, 4], pl.INT32]], data: pld.DistributedTensor[[OUT, n], pl.FP32], s: pld.DistributedTensor[[nr, 4], pl.INT32]):
            for i in pl.range(nr):
                for j in pl.range(4):
                    pld.system.wait(s, [i, j], 0, cmp=pld.WaitCmp.Eq)
            z = pl.store(pl.load(s, [0, 0], [nr, 4]), [0, 0], z)
            y = pl.store(pl.load(data, [0, 0], [OUT, n]), [0, 0], y)
            return y, z

        @pl.function(type=pl.FunctionType.Orchestration)
        def seen(self, y: pl.Out[pl.Tensor[[OUT, n], pl.FP32]], z: pl.Out[pl.Tensor[[nr, 4], pl.INT32]], data: pld.DistributedTensor[[OUT, n], pl.FP32], s: pld.DistributedTensor[[nr, 4], pl.INT32]):
            y, z = self.look(y, z, data, s)
            return y, z

        @pl.function(level=pl.Level.HOST'''


def test_a_signal_with_a_lane_for_each_core_reads_zero_after_the_collective(tmp_path, monkeypatch):
    """The kernel that comes after waits for zeros in every cell, and copies all of them out."""
    text = TEXT.replace("\n        @pl.function(level=pl.Level.HOST", SIGNAL_READ)
    text = text.replace("self.end(ys[r], RESULT, device=r)", "self.seen(ys[r], zs[r], RESULT, s, device=r)")
    text = text.replace("ys: pl.Out[pl.Tensor[[nr, OUT, n], pl.FP32]])", "ys: pl.Out[pl.Tensor[[nr, OUT, n], pl.FP32]], zs: pl.Out[pl.Tensor[[nr, nr, 4], pl.INT32]])")
    monkeypatch.setitem(globals(), "TEXT", text)
    made = compiled(program(tmp_path, "pld.tensor.allreduce(a, s, core_num=4)", 3, sig="nr, 4"), 3)
    assert [v.verdict for v in made.verdicts] == ["proved"]
    xs, ys, zs = numbers((3, 1, 12)), np.zeros((3, 1, 12), np.float32), np.full((3, 3, 4), 9, np.int32)
    made(xs, ys, zs)
    np.testing.assert_array_equal(ys, rank_sums(xs))
    assert not zs.any()


def test_a_platform_has_so_many_cores(tmp_path):
    made = program(tmp_path, "pld.tensor.allreduce(a, op=pld.ReduceOp.Sum, core_num=37)", 2)
    devices = DistributedConfig(device_ids=[0, 1])
    for platform in ("a5", "a5sim"):
        with pytest.raises(ValueError, match=f"core_num must be in 1..36 on {platform}, found 37"):
            ir.compile(made, platform=platform, distributed_config=devices)
    assert ir.compile(made, platform="a2a3", distributed_config=devices).verdicts[0].verdict == "proved"


def test_target_and_signal_are_different_windows(tmp_path):
    """Whatever else is wrong with one that is both."""
    call = "a = pld.tensor.allreduce(a, pld.window(a_buf, [nr, 1], dtype=pl.INT32))"
    with pytest.raises(ValueError, match="target and signal must be different window allocations"):
        compiled(program(tmp_path, call, 2), 2)
    before = "pld.tensor.barrier(pld.window(a_buf, [nr, 1], dtype=pl.INT32))"
    with pytest.raises(ValueError, match="window buffer 'a_buf' is viewed as fp32 and as int32") as error:
        compiled(program(tmp_path, before, 2), 2)
    assert before in str(error.value)
