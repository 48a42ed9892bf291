# SPDX-License-Identifier: Apache-2.0
"""Passes over programs: what they leave, what they leave alone, and that the result is the same when it runs."""

import numpy as np
import programs
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from frame import DTYPES, Source, compiled, numbers
from kernels import FILL, KERNELS
from pypto import ir
from pypto.pypto_core import ir as core
from pypto.pypto_core import passes
from test_collectives import AROUND, CALLS
from test_host_collectives import CALLS as HOST_CALLS
from test_host_collectives import program as host_program

IN, OUT, INOUT = ir.ParamDirection.In, ir.ParamDirection.Out, ir.ParamDirection.InOut
COMPOSITES = {"allreduce", "barrier", "broadcast", "allgather", "reduce_scatter", "all_to_all"}
PRIMITIVES = {
    *("pld.system." + name for name in ("notify", "wait", "get_comm_ctx", "rank", "nranks")),
    *("pld.tile." + name for name in ("remote_load", "remote_store")),
    *("tile." + name for name in ("load", "store", "slice", "add", "maximum", "minimum", "mul")),
    "tensor.reshape",
}


class Seen(ir.IRVisitor):
    def __init__(self, node):
        self.calls, self.assigned = [], []
        (self.visit_program if isinstance(node, core.Program) else self.visit_function)(node)

    def visit_call(self, call):
        self.calls.append(call)
        super().visit_call(call)

    def visit_assign_stmt(self, stmt):
        self.assigned.append(stmt.var.name_hint)
        super().visit_assign_stmt(stmt)

    def names(self):
        return [c.op.name for c in self.calls]


def around(tmp_path, call):
    text, frame = CALLS[call]
    return Source(tmp_path, AROUND.replace("BEFORE\n", "").replace("AFTER\n", "").replace("CALL", text), **frame)


def ran(program, nr):
    """What it computes, and what was proved of it."""
    made = compiled(program, nr)
    [verdict] = made.verdicts
    assert verdict.verdict == "proved", str(verdict)
    shapes = made.declared_shapes()
    dtype = DTYPES[made.tensors()[0].type.dtype.name]
    xs, ys = numbers(shapes[0], dtype), np.full(shapes[1], FILL, dtype)
    made(xs, ys)
    return ys, verdict.meaning


@pytest.fixture(autouse=True)
def verified():
    """After every pass of these tests, what the program prints is the same program."""
    with passes.PassContext([passes.VerificationInstrument()]):
        yield


# ---------------------------------------------------------------------------- composites


@pytest.mark.parametrize("call", CALLS)
def test_composites_become_primitives_that_do_the_same(tmp_path, call):
    program = around(tmp_path, call).build(3, 9)
    lowered = passes.lower_composite_ops()(program)
    left = set(Seen(lowered["kernel"]).names())
    assert left <= PRIMITIVES
    assert {"pld.system.notify", "pld.system.wait"} <= left
    assert passes.lower_composite_ops()(lowered) is lowered
    assert str(lowered["host"]) == str(program["host"])
    before, after = ran(program, 3), ran(lowered, 3)
    np.testing.assert_array_equal(before[0], after[0])
    assert before[1] == after[1]


@pytest.mark.parametrize("op, tile", [("Sum", "add"), ("Max", "maximum"), ("Min", "minimum"), ("Prod", "mul")])
@pytest.mark.parametrize("mode, sig", [("mesh", "nr, 1"), ("ring", "2 * (nr - 1), nr")])
def test_the_reduction_chooses_the_op(tmp_path, op, tile, mode, sig):
    body = f"data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.{op}, mode='{mode}')\nreturn y"
    lowered = passes.lower_composite_ops()(Source(tmp_path, body, sig=sig).build(2, 9))
    reductions = {"tile.add", "tile.maximum", "tile.minimum", "tile.mul"} & set(Seen(lowered).names())
    assert reductions == {f"tile.{tile}"}


def test_one_signal_serves_again_and_in_loops(tmp_path):
    body = """
    for i in pl.range(3):
        pl.store(pl.load(x, [0, 0], [1, n]), [0, 0], data)
        data = pld.tensor.allreduce(data, sig)
        sig = pld.tensor.barrier(sig)
        y = pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)
        pld.tensor.barrier(sig)
    return y
    """
    program = Source(tmp_path, body).build(3, 9)
    before, after = ran(program, 3), ran(passes.lower_composite_ops()(program), 3)
    np.testing.assert_array_equal(before[0], after[0])
    assert after[1] == "ys is the allreduce (sum) of xs"


def test_what_has_no_composites_stays_what_it_is():
    for program in (programs.mesh_allreduce(2), programs.DynamicAllgather):
        assert passes.lower_composite_ops()(program) is program


def test_a_root_that_is_no_rank_is_refused_by_the_pass(tmp_path):
    body = "data = pld.tensor.broadcast(data, sig, root=5)\nreturn y"
    source = Source(tmp_path, body)
    for refused in (lambda: source.compile(2, 4), lambda: passes.lower_composite_ops()(source.build(2, 4))):
        with pytest.raises(ValueError) as caught:
            refused()
        line = source.line("root=5")
        assert str(caught.value).startswith(f"{source.path}:{line}:20: root (5) must be a valid rank in [0, 2)\n   {line} | ")
        assert str(caught.value).endswith(" = pld.tensor.broadcast(data, sig, root=5)\n      | " + " " * 19 + "^")


# ---------------------------------------------------------------------------- names and loops


@pytest.mark.parametrize("name", KERNELS)
def test_names_are_given_once_and_the_rest_is_as_before(tmp_path, name):
    kernel = KERNELS[name]
    nr = kernel.ranks[-1]
    program = Source(tmp_path, kernel.body, **kernel.frame).build(nr, 12)
    single = passes.convert_to_ssa()(program)
    given = Seen(single["kernel"]).assigned + [p.name_hint for p in single["kernel"].params]
    assert len(set(given)) == len(given)
    np.testing.assert_array_equal(ran(program, nr)[0], ran(single, nr)[0])


def test_all_passes_in_a_row(tmp_path):
    for name in ("scalars", "count_at_root", "put_region", "computed_push"):
        kernel = KERNELS[name]
        program = Source(tmp_path, kernel.body, **kernel.frame).build(3, 12)
        made = program
        for step in ("unroll_loops", "lower_composite_ops", "convert_tensor_to_tile_ops", "flatten_tile_nd_to_2d", "convert_to_ssa"):
            made = getattr(passes, step)()(made)
        np.testing.assert_array_equal(ran(program, 3)[0], ran(made, 3)[0])


def test_loops_over_known_numbers_are_written_out(tmp_path):
    kernel = KERNELS["scalars"]
    program = Source(tmp_path, kernel.body, **kernel.frame).build(2, 12)
    made = passes.unroll_loops()(program)
    assert Seen(made["kernel"]).names().count("pld.system.notify") == 4
    assert passes.unroll_loops()(made) is made


# ---------------------------------------------------------------------------- tiles and directions


@pytest.mark.parametrize(
    "body, data, sig",
    [
        ("data = pld.tensor.allreduce(data, sig)", INOUT, INOUT),
        ("data = pld.tensor.broadcast(data, sig, root=0)", INOUT, INOUT),
        ("sig = pld.tensor.barrier(sig)", IN, INOUT),
        ("data = pld.tensor.allgather(x, data, sig)", INOUT, INOUT),
        ("pld.tensor.put(data, 0, x)", OUT, IN),
        ("pld.tensor.get(y, 0, data)", IN, IN),
        ("pld.tile.remote_store(pl.load(x, [0, 0], [1, n]), data, 0, [0, 0])", OUT, IN),
        ("pld.tensor.put(data, 0, x, atomic=pld.AtomicType.Add)", INOUT, IN),
        ("pld.system.notify(sig, 0, [0, 0], 1, op=pld.NotifyOp.Set)", IN, OUT),
        ("pld.system.notify(sig, 0, [0, 0], 1, op=pld.NotifyOp.AtomicAdd)", IN, INOUT),
        ("pld.system.wait(sig, [0, 0], 0, cmp=pld.WaitCmp.Ge)", IN, IN),
        ("y = pl.store(pl.load(data, [0, 0], [1, n]), [0, 0], y)", IN, IN),
    ],
)
def test_directions_follow_from_what_is_done(tmp_path, body, data, sig):
    """Of the kernel, and of the function that calls it; what is declared Out stays."""
    source = Source(tmp_path, body + "\nreturn y", data="nr, n" if "allgather" in body else "1, n")
    source.path.write_text(source.text.replace("pl.InOut[pld.DistributedTensor[[nr, 1], pl.INT32]]", "pld.DistributedTensor[[nr, 1], pl.INT32]"))
    made = passes.convert_tensor_to_tile_ops()(source.build(2, 4))
    for name in ("kernel", "chip"):
        assert made[name].param_directions == [IN, OUT, data, sig, IN]


@pytest.mark.parametrize("pipeline, stages", [(False, 1), (True, 2)])
def test_transfers_get_their_staging_tiles(tmp_path, pipeline, stages):
    body = f"""
    pld.tensor.put(data, 0, x, [0, 0], [0, 0], [1, n], chunk_rows=1, chunk_cols=2, pipeline={pipeline})
    pld.tensor.get(y, 0, data, chunk_rows=1, chunk_cols=2, pipeline={pipeline})
    return y
    """
    made = passes.convert_tensor_to_tile_ops()(Source(tmp_path, body).build(1, 4))
    seen = Seen(made["kernel"])
    assert seen.names() == ["tile.create"] * stages + ["pld.tile.put"] + ["tile.create"] * stages + ["pld.tile.get"]
    assert seen.calls[0].type.shape == [1, 2]
    np.testing.assert_array_equal(ran(made, 1)[0], numbers((1, 1, 4)))


def test_computed_tensors_are_pushed_as_tiles(tmp_path):
    kernel = KERNELS["computed_push"]
    made = passes.convert_tensor_to_tile_ops()(Source(tmp_path, kernel.body).build(3, 12))
    names = Seen(made["kernel"]).names()
    assert names.count("pld.tile.remote_store") == 1
    assert not any(name.startswith(("tensor.", "pld.tensor.")) for name in names)
    np.testing.assert_array_equal(ran(made, 3)[0], kernel.golden(numbers((3, 1, 12))))


# ---------------------------------------------------------------------------- the host


@pytest.mark.parametrize("name", HOST_CALLS)
def test_collectives_of_the_host_become_dispatches_of_kernels(tmp_path, name):
    call, frame, _ = HOST_CALLS[name]
    program = host_program(tmp_path, call, 3, **frame)
    made = passes.lower_host_tensor_collectives()(passes.synthesize_allreduce_signals()(program))
    assert not COMPOSITES & {n.split(".")[-1] for n in Seen(made["host"]).names()}
    assert any(g.name.startswith("builtin_tensor_") for g in made.functions)
    before, after = ran(program, 3), ran(made, 3)
    np.testing.assert_array_equal(before[0], after[0])
    assert before[1] == after[1]


def test_an_allreduce_without_a_signal_gets_one(tmp_path):
    call, frame, _ = HOST_CALLS["without a signal"]
    program = host_program(tmp_path, call, 2, **frame)
    with pytest.raises(ValueError, match="allreduce has no signal"):
        passes.lower_host_tensor_collectives()(program)
    made = passes.synthesize_allreduce_signals()(program)
    [reduction] = [c for c in Seen(made["host"]).calls if c.op.name == "pld.tensor.allreduce"]
    assert len(reduction.args) == 2 and reduction.args[1].type.dtype.name == "INT32"
    assert passes.synthesize_allreduce_signals()(made) is made


def test_a_domain_of_some_devices_is_not_made_one_of_all():
    with pytest.raises(ValueError, match="takes dispatches to all devices"):
        passes.lower_host_tensor_collectives()(programs.pairs())


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("for r in", "extra = pld.alloc_window_buffer(64)\n            for r in", "'extra' is never viewed"),
        (
            "for r in",
            "extra = pld.alloc_window_buffer(4)\n            seen = pld.window(extra, [1, 1], dtype=pl.INT32)\n            for r in",
            "'extra' is not consumed by any chip_orch dispatch",
        ),
        ("pl.range(pld.world_size())", "pl.range(0, pld.world_size(), 2)", "non-unit-step loop is not supported"),
    ],
)
def test_windows_that_belong_to_no_domain(tmp_path, old, new, words):
    source = Source(tmp_path, "return y")
    assert passes.materialize_comm_domain_scopes()(source.build(2, 4)).name == "Tested"
    source.path.write_text(source.text.replace(old, new))
    with pytest.raises(ValueError, match=words):
        passes.materialize_comm_domain_scopes()(source.build(2, 4))


# ---------------------------------------------------------------------------- passes as such


def test_passes_have_names_and_take_programs():
    assert passes.lower_composite_ops().get_name() == "LowerCompositeOps"
    assert passes.insert_comm_fence()(programs.DynamicAllgather) is programs.DynamicAllgather
    with pytest.raises(TypeError, match="ConvertToSSA takes a program made by @pl.program, found int"):
        passes.convert_to_ssa()(3)
    with pytest.raises(AttributeError, match="passes.fuse_all is not supported by Peal"):
        passes.fuse_all


def test_calls_are_made_by_name():
    window = core.Var("w", core.DistributedTensorType([2, 1], pl.INT32))
    call = core.create_op_call("pld.system.notify", [window, 0, [1, 0], 1], {"op": pld.NotifyOp.Set}, core.Span.unknown())
    assert call.op.name == core.get_op("pld.system.notify").name
    assert call.kwargs == {"op": pld.NotifyOp.Set} and call.args[2].elements == [1, 0]
    with pytest.raises(ValueError, match="offsets rank 1"):
        core.create_op_call("pld.system.notify", [window, 0, [1], 1], {"op": pld.NotifyOp.Set})
    with pytest.raises(ValueError, match="the op 'pld.system.ring' is not supported by Peal; docs/compatibility.md lists what is"):
        core.get_op("pld.system.ring")
