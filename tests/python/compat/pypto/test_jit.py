# SPDX-License-Identifier: Apache-2.0
"""Programs written as functions: compiled with and without samples, called, and wrong."""

import jit_programs
import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from frame import numbers
from pypto.ir.distributed_compiled_program import DistributedConfig
from pypto.language.parser.diagnostics import ParserTypeError, UnsupportedFeatureError
from pypto.runtime import RunConfig


def config(nr):
    return RunConfig(platform="a2a3sim", distributed_config=DistributedConfig(device_ids=list(range(nr))))


@pytest.mark.parametrize("nr", [1, 2, 4])
def test_full_annotations_need_no_samples(nr):
    made = jit_programs.shift.compile(config=config(nr))
    xs, ys = numbers((nr, 1, jit_programs.N)) + 10, np.zeros((nr, 1, jit_programs.N), np.float32)
    made(xs, ys)
    np.testing.assert_array_equal(ys, np.roll(xs, 1, axis=0))
    assert [v.verdict for v in made.verdicts] == ["proved"]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_shapes_and_types_come_from_what_is_given(dtype):
    host = jit_programs.difference(3)
    xs, ys = numbers((3, 2, 5), dtype) + dtype(10), np.zeros((3, 2, 5), dtype)
    host(xs, ys, config=config(3))
    np.testing.assert_array_equal(ys, xs - np.roll(xs, 1, axis=0))
    wide, out = numbers((3, 4, 7), dtype), np.zeros((3, 4, 7), dtype)
    host(wide, out, config=config(3))
    np.testing.assert_array_equal(out, wide - np.roll(wide, 1, axis=0))


def test_the_program_is_there_to_be_looked_at():
    program = jit_programs.shift.lower()
    assert [g.name for g in program.functions] == ["shift_kernel", "shift_chip", "shift"]
    assert program["shift_chip"].func_type == pl.FunctionType.Orchestration
    assert program["shift_kernel"].level == pl.Level.CHIP_DIE
    assert str(pl.parse_program(str(program))) == str(program)


def test_what_is_refused():
    with pytest.raises(ParserTypeError, match="'xs' is annotated without a shape, and no argument says it"):
        jit_programs.difference(2).lower()
    with pytest.raises(TypeError, match="shift_chip is not a host function"):
        jit_programs.shift_chip.lower()

    @pl.jit.host
    def calls_python(xs: pl.Tensor[[2, 1, 4], pl.FP32]):
        numbers(xs)

    with pytest.raises(UnsupportedFeatureError, match="cannot be called here"):
        calls_python.lower()


def test_a_symbol_may_be_bound_in_the_body():
    M = pl.dynamic("M")

    @pl.jit.incore
    def copy(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        x.bind_dynamic(1, M)
        for i in pl.range(M):
            y = pl.store(pl.load(x, [0, i], [1, 1]), [0, i], y)
        return y

    @pl.jit
    def chip(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        return copy(x, y)

    @pl.jit.host
    def host(xs: pl.Tensor, ys: pl.Out[pl.Tensor]):
        for r in pl.range(2):
            chip(xs[r], ys[r], device=r)

    xs, ys = numbers((2, 1, 5)) + 10, np.zeros((2, 1, 5), np.float32)
    host(xs, ys, config=config(2))
    np.testing.assert_array_equal(ys, xs)
    with pytest.raises(TypeError, match="^config must be a RunConfig, found dict$"):
        host(xs, ys, config={"platform": "a2a3sim"})
    with pytest.raises(TypeError, match="^distributed_config must be a DistributedConfig, found list$"):
        RunConfig(distributed_config=[0, 1])


def test_numbers_are_those_of_the_call():
    @pl.jit.incore
    def scale(x: pl.Tensor[[1, 4], pl.FP32], y: pl.Out[pl.Tensor[[1, 4], pl.FP32]], by: pl.Scalar[pl.INT32]):
        y = pl.store(pl.mul(pl.load(x, [0, 0], [1, 4]), pl.cast(by, pl.FP32)), [0, 0], y)
        return y

    @pl.jit
    def chip(x: pl.Tensor[[1, 4], pl.FP32], y: pl.Out[pl.Tensor[[1, 4], pl.FP32]], by: pl.Scalar[pl.INT32]):
        return scale(x, y, by)

    @pl.jit.host
    def host(xs: pl.Tensor[[2, 1, 4], pl.FP32], ys: pl.Out[pl.Tensor[[2, 1, 4], pl.FP32]], by: pl.Scalar[pl.INT32]):
        for r in pl.range(pld.world_size()):
            chip(xs[r], ys[r], by, device=r)

    xs, ys = numbers((2, 1, 4)) + 10, np.zeros((2, 1, 4), np.float32)
    for by in (2, np.int32(3)):
        host(xs, ys, by, config=config(2))
        np.testing.assert_array_equal(ys, by * xs)
    for wrong in (2.0, True, None):
        with pytest.raises(TypeError, match=f"host: 'by' must be an int, found {type(wrong).__name__}"):
            host(xs, ys, wrong, config=config(2))


def test_numbers_of_the_call_may_have_fractions():
    @pl.jit.incore
    def scale(x: pl.Tensor[[1, 4], pl.FP32], y: pl.Out[pl.Tensor[[1, 4], pl.FP32]], by: pl.Scalar[pl.FP32]):
        y = pl.store(pl.mul(pl.load(x, [0, 0], [1, 4]), by), [0, 0], y)
        pl.write(y, [0, 3], by)
        return y

    @pl.jit
    def chip(x: pl.Tensor[[1, 4], pl.FP32], y: pl.Out[pl.Tensor[[1, 4], pl.FP32]], by: pl.Scalar[pl.FP32]):
        return scale(x, y, by)

    @pl.jit.host
    def host(xs: pl.Tensor[[2, 1, 4], pl.FP32], ys: pl.Out[pl.Tensor[[2, 1, 4], pl.FP32]], by: pl.Scalar[pl.FP32]):
        for r in pl.range(pld.world_size()):
            chip(xs[r], ys[r], by, device=r)

    xs, ys = numbers((2, 1, 4)) + 10, np.zeros((2, 1, 4), np.float32)
    for by in (0.5, np.float32(0.25), np.float64(1.5), -2):
        host(xs, ys, by, config=config(2))
        np.testing.assert_array_equal(ys[:, :, :3], np.float32(by) * xs[:, :, :3])
        assert (ys[:, :, 3] == by).all()
    with pytest.raises(TypeError, match="host: 'by' must be a number, found str"):
        host(xs, ys, "1", config=config(2))

    @pl.jit.host
    def differs(xs: pl.Tensor[[2, 1, 4], pl.FP32], ys: pl.Out[pl.Tensor[[2, 1, 4], pl.FP32]], by: pl.Scalar[pl.FP32]):
        chip(xs[0], ys[0], by, device=0)
        chip(xs[1], ys[1], 2.0, device=1)

    differs(xs, ys, 0.5, config=config(2))
    np.testing.assert_array_equal(ys[:, 0, 0], [xs[0, 0, 0] / 2, xs[1, 0, 0] * 2])
