# SPDX-License-Identifier: Apache-2.0
"""A program as it was read: what tests of programs look at."""

import programs
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from frame import Source, compiled, numbers
from kernels import KERNELS
from pypto import ir
from pypto.pypto_core import ir as core


def test_functions_parameters_and_directions():
    program = programs.mesh_allreduce(2)
    assert (program.name, [g.name for g in program.functions]) == ("MeshAllreduce", ["reduce", "chip", "host"])
    kernel = program["reduce"]
    assert program.get_function("reduce") is kernel
    assert [p.name_hint for p in kernel.params] == ["x", "y", "data", "sig"]
    assert kernel.param_directions == [
        ir.ParamDirection.In,
        ir.ParamDirection.Out,
        ir.ParamDirection.In,
        ir.ParamDirection.InOut,
    ]
    assert (kernel.func_type, kernel.level, kernel.role) == (
        pl.FunctionType.InCore,
        pl.Level.CHIP_DIE,
        pl.Role.SubWorker,
    )
    assert isinstance(kernel.params[2].type, core.DistributedTensorType)
    assert kernel.params[2].type.window_buffer is None
    assert kernel.params[3].type.shape == [2, 1] and kernel.params[3].type.dtype == pl.INT32
    assert not kernel.requires_runtime_binding
    with pytest.raises(KeyError, match="has no function 'other'"):
        program["other"]


def test_statements_and_calls():
    body = programs.mesh_allreduce(2)["reduce"].body
    assert isinstance(body, core.SeqStmts)
    ctx, my_rank = body.stmts[0], body.stmts[1]
    assert ctx.value.op.name == core.get_op("pld.system.get_comm_ctx").name
    assert isinstance(ctx.value.type, core.CommCtxType)
    assert my_rank.var.name_hint == "my_rank" and my_rank.value.type.dtype == pl.INT32
    loop = next(s for s in body.stmts if isinstance(s, core.ForStmt))
    assert (loop.start, loop.step, loop.kind) == (0, 1, ir.ForKind.Sequential)
    branch = loop.body.stmts[0]
    assert isinstance(branch.condition, core.Ne) and branch.else_body is None
    notify = branch.then_body.stmts[0].expr
    assert notify.op.name == "pld.system.notify"
    assert notify.kwargs == {"op": pld.NotifyOp.AtomicAdd}
    assert isinstance(notify.type, core.UnknownType)
    dispatch = programs.mesh_allreduce(2)["host"].body.stmts[2].body.stmts[2].expr
    assert isinstance(dispatch.attrs["device"], core.Var) and dispatch.op.name == "chip"
    tuple_of_ints = programs.mesh_allreduce(2)["reduce"].body.stmts[3].value.args[1]
    assert tuple_of_ints.elements == [0, 0]


class Collected(ir.IRVisitor):
    def __init__(self):
        self.calls, self.loops = [], 0

    def visit_call(self, call):
        self.calls.append(call.op.name)
        super().visit_call(call)

    def visit_for_stmt(self, stmt):
        self.loops += 1
        super().visit_for_stmt(stmt)


def test_visitors_see_everything():
    seen = Collected()
    seen.visit_program(programs.mesh_allreduce(2))
    assert seen.loops == 4
    assert seen.calls.count("pld.tile.remote_load") == 1
    assert seen.calls.count("tensor.slice") == 2


class Names(ir.IRVisitor):
    def __init__(self):
        self.names, self.whiles = [], 0

    def visit_var(self, var):
        self.names.append(var.name_hint)
        super().visit_var(var)

    def visit_while_stmt(self, stmt):
        self.whiles += 1
        super().visit_while_stmt(stmt)


def test_visitors_see_variables_and_while_loops():
    flag = core.Var("flag", core.ScalarType(pl.BOOL))
    carried = core.IterArg("t", core.ScalarType(pl.INDEX), core.Var("first", core.ScalarType(pl.INDEX)))
    body = core.SeqStmts([core.YieldStmt([core.Add(carried, pl.dynamic("NR"), pl.INDEX)])])
    seen = Names()
    seen.visit_stmt(core.WhileStmt(flag, [carried], body, [core.Var("last", carried.type)]))
    assert (seen.whiles, seen.names) == (1, ["first", "flag", "t", "NR"])


@pytest.mark.parametrize("name", KERNELS)
def test_what_is_printed_is_read_again_and_runs(tmp_path, name):
    kernel = KERNELS[name]
    program = Source(tmp_path, kernel.body, **kernel.frame).build(2, 12)
    again = pl.parse_program(ir.python_print(program))
    ir.assert_structural_equal(program, again)
    assert str(again) == str(program)


def test_a_printed_program_computes_the_same():
    program = pl.parse_program(str(programs.mesh_allreduce(3)))
    xs = numbers((3, 1, programs.SIZE))
    assert (compiled(program, 3)(xs) == xs.sum(0)).all()


def test_equality_is_up_to_names_and_no_further(tmp_path):
    one = Source(tmp_path, "t = pl.load(x, [0, 0], [1, n])\nreturn pl.store(t, [0, 0], y)").build(2, 4)
    two = Source(tmp_path, "u = pl.load(x, [0, 0], [1, n])\nreturn pl.store(u, [0, 0], y)").build(2, 4)
    other = Source(tmp_path, "t = pl.load(x, [0, 0], [1, 1])\nreturn pl.store(t, [0, 0], y)").build(2, 4)
    assert ir.structural_equal(one, two)
    assert not ir.structural_equal(one, other)
    with pytest.raises(ValueError, match="the two differ"):
        ir.assert_structural_equal(one, other)
