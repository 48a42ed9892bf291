# SPDX-License-Identifier: Apache-2.0
"""Collectives that the host asks for between dispatches."""

import linecache

import numpy as np
import pytest
from frame import compiled, numbers
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
            CALL
            for r in pl.range(pld.world_size()):
                self.end(ys[r], RESULT, device=r)
            return ys

    return HostCollective
'''


def program(tmp_path, call, nr, n=6, rows="1", out="1", sig="nr", result="a"):
    text = TEXT.replace("CALL", call).replace("ROWS", rows).replace("OUT", out)
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


CALLS = {
    "allreduce": ("a = pld.tensor.allreduce(a, s, op=pld.ReduceOp.Sum)", {}, rank_sums),
    "without a signal": ("pld.tensor.allreduce(a, op=pld.ReduceOp.Sum, core_num=4)", {}, rank_sums),
    "ring": ("a = pld.tensor.allreduce(a, s, mode='ring')", {"sig": "2 * (nr - 1) + 1, nr"}, rank_sums),
    "twice": ("for i in pl.range(2):\n                pld.tensor.allreduce(a, s)", {}, lambda xs: len(xs) * rank_sums(xs)),
    "broadcast": ("a = pld.tensor.broadcast(a, s, root=1)", {}, lambda xs: np.broadcast_to(xs[1], xs.shape)),
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


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("nr", [2, 3, 4])
def test_is_proved_and_right(tmp_path, name, nr):
    call, frame, golden = CALLS[name]
    made = compiled(program(tmp_path, call, nr, **frame), nr)
    assert [v.verdict for v in made.verdicts] == ["proved"]
    shapes = made.declared_shapes()
    for seed in range(2):
        xs, ys = numbers(shapes[0], seed=seed), np.full(shapes[1], 9, np.float32)
        made(xs, ys)
        np.testing.assert_array_equal(ys, golden(xs))


@pytest.mark.parametrize(
    "call, error, words",
    [
        ("pld.tensor.allreduce(a, a)", InvalidOperationError, "INT32"),
        ("for i in pl.range(2):\n                pld.tensor.allreduce(a)", ValueError, "not supported inside a for/while"),
        ("pld.tensor.allreduce(a, mode='ring')", InvalidOperationError, "requires an explicit signal"),
        ("pld.tensor.broadcast(a, s, root=5)", ValueError, r"root \(5\) must be a valid rank in \[0, 2\)"),
        ("pld.tensor.allreduce(xs[0], s)", InvalidOperationError, "DistributedTensor"),
    ],
)
def test_what_is_refused(tmp_path, call, error, words):
    with pytest.raises(error, match=words):
        compiled(program(tmp_path, call, 2), 2)
