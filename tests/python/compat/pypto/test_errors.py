# SPDX-License-Identifier: Apache-2.0
"""Programs that are wrong: the class of the error, its words, and the line that it names."""

import linecache

import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from frame import Source
from pypto.language.parser.diagnostics import (
    InvalidOperationError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    SSAViolationError,
    UndefinedVariableError,
    UnsupportedFeatureError,
)

# body, class, words of the message, a part of the line that it must name
BODIES = [
    ("t = pl.load(x, [0], [1, n])", InvalidOperationError, "offsets rank", "pl.load"),
    ("t = pl.load(x, [0, 0], [n])", InvalidOperationError, "shape rank", "pl.load"),
    ("t = pl.load(x, [0, 0], [1, n], [1])", InvalidOperationError, "valid_shape rank", "pl.load"),
    ("t = pl.load(x, [0, 0], [1, n], [-1, 1])", InvalidOperationError, "valid_shape 0 is provably negative", "pl.load"),
    ("t = pl.load(x, 0, [1, n])", InvalidOperationError, "offsets must be a tuple", "pl.load"),
    ("t = pl.load(x, [0, 1], [1, n])", InvalidOperationError, "reads past the end of dimension 1", "pl.load"),
    ("t = pl.load(x, [0, 0])", InvalidOperationError, "load: .*missing 1 required positional argument: 'shapes'", "pl.load"),
    ("t = pl.load(x, [0, 0], [1, n], where=1)", InvalidOperationError, "unexpected keyword argument 'where'", "pl.load"),
    ("t = pl.lode(x, [0, 0], [1, n])", InvalidOperationError, "pl.lode is not supported by Peal", "pl.lode"),
    ("pld.system.ring(sig)", InvalidOperationError, "pld.system.ring is not supported by Peal", "system.ring"),
    ("pld.system.notify(x, 0, [0, 0], 1, op=pld.NotifyOp.Set)", InvalidOperationError, "DistributedTensor", "notify"),
    ("pld.system.notify(sig, 0, [0], 1, op=pld.NotifyOp.Set)", InvalidOperationError, "offsets rank", "notify"),
    ("pld.system.notify(sig, 0, [0, 0], 1.5, op=pld.NotifyOp.Set)", InvalidOperationError, "value must be an integer or index scalar", "notify"),
    ("pld.system.notify(sig, x, [0, 0], 1, op=pld.NotifyOp.Set)", InvalidOperationError, "peer must be a scalar", "notify"),
    ("pld.system.wait(sig, [0, 0], x, cmp=pld.WaitCmp.Ge)", InvalidOperationError, "expected must be an integer or index scalar", "wait"),
    ("pld.system.wait(sig, [x, 0], 1, cmp=pld.WaitCmp.Ge)", InvalidOperationError, "offset 0 must be an integer or index scalar", "wait"),
    ("pld.tile.remote_load(x, 0, [0, 0], [1, n])", InvalidOperationError, "DistributedTensor", "remote_load"),
    ("t = pld.tile.remote_load(data, 0, [0, 4], [1, n])", InvalidOperationError, "reads past the end of dimension 1", "remote_load"),
    ("c = pld.get_comm_ctx(x)", InvalidOperationError, "DistributedTensor", "get_comm_ctx"),
    ("c = pld.rank(data)", InvalidOperationError, "CommCtx", "pld.rank"),
    ("pld.tensor.put(x, 0, x)", InvalidOperationError, "DistributedTensor", "tensor.put"),
    ("pld.tensor.put(data, 0, x, dst_offsets=[0, 0])", InvalidOperationError, "must be provided together", "tensor.put"),
    ("pld.tensor.put(data, 0, x, [0], [0, 0], [1, 1])", InvalidOperationError, "dst_offsets rank", "tensor.put"),
    ("pld.tensor.put(data, 0, x, [-1, 0], [0, 0], [1, 1])", InvalidOperationError, "dst_offsets dimension 0 must be non-negative", "tensor.put"),
    ("pld.tensor.put(data, 0, x, [0, 0], [1, 0], [1, 1])", InvalidOperationError, "src subregion dimension 0 exceeds src shape", "tensor.put"),
    ("pld.tensor.put(data, 0, x, [0, 1], [0, 0], [1, n])", InvalidOperationError, "dst subregion dimension 1 exceeds dst shape", "tensor.put"),
    ("pld.tensor.get(y, 0, data, [0, 1], [0, 0], [1, n])", InvalidOperationError, "dst subregion dimension 1 exceeds dst shape", "tensor.get"),
    ("pld.tensor.put(data, 0, x[0:1, 0:2])", InvalidOperationError, "dst and src must have the same shape", "tensor.put"),
    ("pld.tensor.get(y[0:1, 0:2], 0, data)", InvalidOperationError, "dst and src must have the same shape", "tensor.get"),
    ("pld.tensor.put(data, 0, x, chunk_rows=-1)", InvalidOperationError, "chunk_rows must be non-negative", "tensor.put"),
    ("pld.tensor.put(data, 0, x, pipeline=True)", InvalidOperationError, "pipeline=True requires both chunk_rows>0 and chunk_cols>0", "tensor.put"),
    ("pld.tensor.put(data, 0, x, atomic=1)", InvalidOperationError, "atomic must be", "tensor.put"),
    ("pld.tensor.get(y, 0, x)", InvalidOperationError, "DistributedTensor", "tensor.get"),
    ("pld.tile.remote_store(pl.load(x, [0, 0], [1, n]), data, 0, [0, 1])", InvalidOperationError, "push exceeds the peer's target region in dimension 1", "remote_store"),
    ("data = pld.tensor.allreduce(data)", InvalidOperationError, "requires an explicit signal outside host orchestrator", "allreduce"),
    ("data = pld.tensor.allreduce(data, signal=None)", InvalidOperationError, "signal cannot be None", "allreduce"),
    ("data = pld.tensor.allreduce(data, sig, mode='star')", InvalidOperationError, 'mode must be "ring" or "mesh"', "allreduce"),
    ("data = pld.tensor.allreduce(data, sig, op=pld.NotifyOp.Set)", InvalidOperationError, "ReduceOp.Sum, Max, Min, or Prod", "allreduce"),
    ("data = pld.tensor.allreduce(data, sig, mode='ring')", InvalidOperationError, "signal shape", "allreduce"),
    ("data = pld.tensor.allreduce(sig, sig)", InvalidOperationError, "target dtype must be FP16 or FP32", "allreduce"),
    ("data = pld.tensor.allreduce(data, data)", InvalidOperationError, "signal must have INT32 element type", "allreduce"),
    ("pld.tensor.all_to_all_v(x, data, sig)", InvalidOperationError, "requires 5 args", "all_to_all_v"),
    ("pld.tensor.all_to_all_v(x, data, sig, x, sig)", InvalidOperationError, "send_counts must have INT32 element type", "all_to_all_v"),
    ("pld.tensor.all_to_all_v(x, data, sig, sig, x)", InvalidOperationError, "DistributedTensor", "all_to_all_v"),
    ("pld.tensor.all_to_all_v(x, data, sig, sig, sig)", InvalidOperationError, "must divide target dim 0", "all_to_all_v"),
    ("pld.tensor.put(data, 0, x, [0, 0], [0, 0], [1, me])", InvalidOperationError, "dynamic innermost transfer dim needs a static chunk_cols", "tensor.put"),
    ("pld.tensor.get(y, 0, data, [0, 0], [0, 0], [me, 1])", InvalidOperationError, "dynamic leading transfer dim needs a static chunk_rows", "tensor.get"),
    ("pld.tensor.put(sig, 0, x)", InvalidOperationError, "element type", "tensor.put"),
    ("pld.tensor.remote_store(x[0], data, 0, [0, 0])", InvalidOperationError, "src must be at least 2-D", "remote_store"),
    ("data = pld.tensor.allreduce(data, sig, core_num=2)", InvalidOperationError, "supported only in a HOST orchestrator", "allreduce"),
    ("w = pld.window(data, [1, n], dtype=pl.FP32)", InvalidOperationError, "Ptr handle", "w = pld.window(data"),
    ("y[0:1, 0:2] = pl.load(x, [0, 0], [1, n])", ParserTypeError, r"a part of \[1, 2\] cannot hold", "y[0:1"),
    ("t = x[0, 0:2:2]", UnsupportedFeatureError, "steps in subscripts", "0:2:2"),
    ("t = x[0, -1]", UnsupportedFeatureError, "negative indices", "-1]"),
    ("t = x[0, 2:5]", InvalidOperationError, "slice is past the end of dimension 1", "2:5]"),
    ("t = pl.reshape(x, [3])", InvalidOperationError, "does not have the elements", "reshape"),
    ("n = pld.world_size()", ParserSyntaxError, "HOST function only; found in InCore", "n = pld.world_size"),
    ("b = pld.alloc_window_buffer(4)", ParserSyntaxError, "HOST function only; found in InCore", "b = pld.alloc"),
    ("t = nothing", UndefinedVariableError, "'nothing' is not defined", "nothing"),
    ("if me == 0:\n    t = pl.load(x, [0, 0], [1, n])\npl.store(t, [0, 0], y)", UndefinedVariableError, "'t' is not defined", "pl.store"),
    ("if me:\n    pass", ParserTypeError, "a condition must be a comparison", "if me"),
    ("t = pl.load(x, [0, 0], [1, n])\nt = pl.load(x, [0, 0], [1, 1])", ParserTypeError, "Cannot reassign 't' with a different type", "[1, 1])"),
    ("if 0 < me < 2:\n    pass", ParserSyntaxError, "comparisons do not chain", "if 0"),
    ("for i in range(3):\n    pass", ParserSyntaxError, "a loop runs over one of pl.range", "in range"),
    ("for i in pl.range(2, init_values=(x,)):\n    pass", ParserSyntaxError, "init_values needs a target", "init_values"),
    ("pl.yield_(x)", ParserSyntaxError, "pl.yield_ needs names", "yield_"),
    ("while me == 0:\n    pass", UnsupportedFeatureError, r"while is not supported: .*: for i in pl.range\(...\)", "while"),
    ("for i in pl.range(2):\n    break", UnsupportedFeatureError, "break is not supported: a loop does all its rounds", "break"),
    ("for i in pl.range(2):\n    continue", UnsupportedFeatureError, "continue is not supported: a loop does all of a round", "continue"),
    ("me = pld.ReduceOp.Avg", InvalidOperationError, "pld.ReduceOp.Avg is not supported by Peal", "Avg"),
    ("me += 1", UnsupportedFeatureError, r"\+= is not supported: .* x = x \+ y", "me += 1"),
    ("t = x if me == 0 else y", UnsupportedFeatureError, "IfExp", "t = x"),
    ("t = [i for i in range(3)]", UnsupportedFeatureError, "ListComp", "t = ["),
    ("t = print(3)", UnsupportedFeatureError, "cannot be called here", "print"),
    ("t = pl.add(pl.load(x, [0, 0], [1, n]), x)", InvalidOperationError, "cannot be mixed", "pl.add"),
    ("t = pl.read(pl.load(x, [0, 0], [1, n], [1, 2]), [0, 2])", InvalidOperationError, "read is past the end of dimension 1", "pl.read"),
    ("t = pl.read(pl.load(x, [0, 0], [1, n]), [0])", InvalidOperationError, "offset rank 1 does not match the rank of the tile, 2", "pl.read"),
    ("t = x.shape[2]", ParserSyntaxError, "Failed to parse function kernel: IndexError: tuple index out of range", "x.shape[2]"),
    ("t = 1 << -1", ParserSyntaxError, "Failed to parse function kernel: ValueError: negative shift count", "1 << -1"),
]


@pytest.mark.parametrize("body, error, words, where", BODIES)
def test_bodies(tmp_path, body, error, words, where):
    source = Source(tmp_path, body + "\nreturn y")
    with pytest.raises(error, match=words) as caught:
        source.build(2, 4)
    assert isinstance(caught.value, ParserError)
    assert caught.value.span.begin_line == source.line(where)
    assert caught.value.span.filename == str(source.path)
    assert where in str(caught.value)  # the line is shown
    assert where in caught.value.source_lines[0]


def test_calls_of_functions(tmp_path):
    source = Source(tmp_path, "return y")
    for old, new, error, words in [
        ("self.kernel(x, y, data, sig, me)", "self.kernel(x, y, data, sig)", ParserTypeError, r"expects 5 argument\(s\), got 4"),
        ("self.kernel(x, y, data, sig, me)", "self.kernel(x, y, data, sig, me, device=0)", ParserTypeError, "'device'"),
        ("self.kernel(x, y, data, sig, me)", "self.kernl(x, y, data, sig, me)", UndefinedVariableError, "no function 'kernl'"),
        ("self.kernel(x, y, data, sig, me)", "self.kernel(me, y, data, sig, me)", ParserTypeError, "parameter 'x' is"),
    ]:
        source.path.write_text(source.text.replace(old, new))
        linecache.checkcache()
        with pytest.raises(error, match=words):
            source.build(2, 4)


SHAPES = [  # parameters of a kernel, its body, words of the message
    ("t: pld.DistributedTensor[[8], pl.FP32], s: pl.Tensor[[1, 8], pl.FP32]", "pld.tensor.remote_store(s, t, 0, [0])", "target rank must be >= 2"),
    (
        "t: pld.DistributedTensor[[2, 8], pl.FP32], s: pl.Tensor[[2, 1, 8], pl.FP32]",
        "pld.tensor.remote_store(s, t, 0, [0, 0])",
        "src leading dimension 0 must be 1",
    ),
    (
        "t: pld.DistributedTensor[[2, 8], pl.INT64], s: pl.Tensor[[2, 8], pl.INT64]",
        "pld.tensor.remote_store(s, t, 0, [0, 0], atomic=pld.AtomicType.Add)",
        "requires an fp32/bf16/fp16/int32/int16/int8 dtype",
    ),
    ("t: pld.DistributedTensor[[2, 8], pl.FP32], s: pld.DistributedTensor[[2], pl.INT32]", "pld.tensor.allreduce(t, s)", "signal must be 2D"),
    ("t: pld.DistributedTensor[[2, 8], pl.FP32], s: pld.DistributedTensor[[2, 2], pl.INT32]", "pld.tensor.allreduce(t, s)", r"signal shape\[1\] must be 1"),
    (
        "t: pld.DistributedTensor[[2, 8], pl.FP32], s: pld.DistributedTensor[[pl.dynamic('NR'), 2], pl.INT32]",
        "pld.tensor.allreduce(t, s, mode='ring')",
        "static shape",
    ),
    (
        "t: pld.DistributedTensor[[4, 8], pl.FP32], s: pld.DistributedTensor[[2, 1], pl.INT32], c: pl.Tensor[[2, 2], pl.INT32]",
        "pld.tensor.all_to_all_v(t, t, s, c, s)",
        "send_counts must be 1D",
    ),
    (
        "t: pld.DistributedTensor[[4, 8], pl.FP32], s: pld.DistributedTensor[[2, 1], pl.INT32], r: pld.DistributedTensor[[2, 2], pl.INT32]",
        "pld.tensor.all_to_all_v(t, t, s, s, r)",
        "recv_counts second dimension must be 1",
    ),
]


@pytest.mark.parametrize("params, body, words", SHAPES)
def test_operands_that_do_not_go_together(params, body, words):
    text = f"""
import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class Wrong:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, {params}):
        {body}
"""
    with pytest.raises(InvalidOperationError, match=words):
        pl.parse_program(text)


HOST = [
    ("pld.alloc_window_buffer([1, n], dtype=pl.FP32)", "pld.alloc_window_buffer([1, n])", "requires dtype="),
    ("pld.alloc_window_buffer([1, n], dtype=pl.FP32)", "pld.alloc_window_buffer(n, dtype=pl.FP32)", "dtype= is only valid when the first argument is a shape"),
    ("pld.alloc_window_buffer([1, n], dtype=pl.FP32)", "pld.alloc_window_buffer([], dtype=pl.FP32)", "shape must be non-empty"),
    ("pld.alloc_window_buffer([1, n], dtype=pl.FP32)", "pld.alloc_window_buffer([0, n], dtype=pl.FP32)", "all dimensions must be positive"),
    ("pld.alloc_window_buffer([1, n], dtype=pl.FP32)", "pld.alloc_window_buffer(64, name='b')", "'name' kwarg cannot be passed explicitly"),
    ("sig_buf = pld", "data_buf = pld", "'data_buf' is already declared"),
    ("for r in pl.range(", "pld.alloc_window_buffer(8)\n            for r in pl.range(", "must appear as the RHS of a simple assignment"),
    ("pld.window(data_buf", "pld.window(pld.alloc_window_buffer(8)", "must appear as the RHS of a simple assignment"),
    ("pld.window(data_buf, [1, n]", "pld.window(shape=[1, n], buf=pld.alloc_window_buffer(8)", "must appear as the RHS of a simple assignment"),
]


@pytest.mark.parametrize("old, new, words", HOST)
def test_host_functions(tmp_path, old, new, words):
    source = Source(tmp_path, "return y")
    source.path.write_text(source.text.replace(old, new))
    with pytest.raises(ParserSyntaxError, match=words):
        source.build(2, 4)


@pytest.mark.parametrize("name", ["kernel", "chip"])
def test_functions_that_call_themselves(tmp_path, name):
    """One does, or two call each other."""
    source = Source(tmp_path, f"y = self.{name}(x, y, data, sig, me)\nreturn y")
    with pytest.raises(ValueError, match="calls itself") as error:
        source.compile(2, 4)
    assert str(error.value).startswith(f"{source.path}:{source.line(f'y = self.{name}(')}:")


@pytest.mark.parametrize("dim", [0, -8])
def test_dimensions_are_positive(tmp_path, dim):
    for kind in (pl.Tensor, pld.DistributedTensor):
        with pytest.raises(ValueError, match=f"a dimension must be positive, found {dim}"):
            kind[[1, dim], pl.FP32]
    with pytest.raises(ParserTypeError, match=f"the annotation of 'x': .* positive, found {dim}"):
        text = f"@pl.program\nclass A:\n    @pl.function\n    def f(self, x: 'pl.Tensor[[{dim}], pl.FP32]'):\n        pass\n"
        pl.parse_program("import pypto.language as pl\n" + text)


def test_signatures():
    with pytest.raises(ParserTypeError, match="parameter 'x' needs an annotation"):

        @pl.program
        class NoAnnotation:
            @pl.function(type=pl.FunctionType.InCore)
            def kernel(self, x):
                return x

    with pytest.raises(ParserTypeError, match="scalar parameter 's' cannot be InOut"):

        @pl.program
        class ScalarOut:
            @pl.function(type=pl.FunctionType.InCore)
            def kernel(self, s: pl.InOut[pl.Scalar[pl.INT32]]):
                pass

    with pytest.raises(ParserSyntaxError, match="no method under @pl.function"):

        @pl.program
        class Empty:
            pass

    with pytest.raises(ValueError, match="contradicts"):

        @pl.function(type=pl.FunctionType.InCore, level=pl.Level.HOST)
        def kernel(self):
            pass

    with pytest.raises(SSAViolationError, match="'t' is already assigned"):

        @pl.program
        class Strict:
            @pl.function(type=pl.FunctionType.InCore, strict_ssa=True)
            def kernel(self, x: pl.Tensor[[1, 4], pl.FP32]):
                t = pl.load(x, [0, 0], [1, 4])
                t = pl.add(t, t)

    with pytest.raises(SSAViolationError, match="'t' is already assigned"):

        @pl.program(strict_ssa=True)
        class AllStrict:
            @pl.function(type=pl.FunctionType.InCore)
            def kernel(self, x: pl.Tensor[[1, 4], pl.FP32]):
                t = pl.load(x, [0, 0], [1, 4])
                t = pl.add(t, t)

    with pytest.raises(ParserSyntaxError, match="Failed to parse function kernel: SyntaxError: '\\[' was never closed") as caught:

        @pl.program
        class Unclosed:
            @pl.function(type=pl.FunctionType.InCore)
            def kernel(self, x: "pl.Tensor[[1, 4], pl.FP32"):
                pass

    assert "def kernel" in caught.value.source_lines[0]

    with pytest.raises(ValueError, match="must be an identifier"):
        pl.dynamic("a b")


def test_ops_stand_in_bodies_only():
    with pytest.raises(TypeError, match="pl.range stands in the body"):
        pl.range(3)
    with pytest.raises(TypeError, match="missing 2 required positional arguments"):
        pld.tensor.put(1)


def test_words_have_their_numbers():
    assert [int(w) for w in pld.NotifyOp] == [0, 1]
    assert int(pl.Level.HOST) == 5 and pl.Level.NODE is pl.Level.HOST
    assert (pl.FP32.get_byte(), pl.INT32.get_bit(), str(pl.BF16), int(pl.FP16)) == (4, 32, "bfloat16", 0x33)
    assert len({pl.FP32, pl.FP32, pl.FP16}) == 2
