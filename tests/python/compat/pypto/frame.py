# SPDX-License-Identifier: Apache-2.0
"""Programs around one kernel: the kernel's body is given as text, and the whole stands in a file of its own, so that verdicts
point at lines of it."""

import importlib.util
import itertools
import textwrap

import numpy as np
from pypto import ir
from pypto.ir.distributed_compiled_program import DistributedConfig

TEXT = '''\
import pypto.language as pl
import pypto.language.distributed as pld


def build(nr, n):
    @pl.program
    class Tested:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            self,
            x: pl.Tensor[[{x}], pl.{dtype}],
            y: pl.Out[pl.Tensor[[{y}], pl.{out}]],
            data: pld.DistributedTensor[[{data}], pl.{window}],
            sig: pl.InOut[pld.DistributedTensor[[{sig}], pl.INT32]],
            me: pl.Scalar[pl.INT32],
        ):
{body}

        @pl.function(type=pl.FunctionType.Orchestration)
        def chip(
            self,
            x: pl.Tensor[[{x}], pl.{dtype}],
            y: pl.Out[pl.Tensor[[{y}], pl.{out}]],
            data: pld.DistributedTensor[[{data}], pl.{window}],
            sig: pl.InOut[pld.DistributedTensor[[{sig}], pl.INT32]],
            me: pl.Scalar[pl.INT32],
        ):
            return self.kernel(x, y, data, sig, me)

        @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
        def host(self, xs: pl.Tensor[[nr, {x}], pl.{dtype}], ys: pl.Out[pl.Tensor[[nr, {y}], pl.{out}]]):
            data_buf = pld.alloc_window_buffer([{data}], dtype=pl.{window})
            sig_buf = pld.alloc_window_buffer([{sig}], dtype=pl.INT32)
            for r in pl.range(pld.world_size()):
                data = pld.window(data_buf, [{data}], dtype=pl.{window})
                sig = pld.window(sig_buf, [{sig}], dtype=pl.INT32)
                self.chip(xs[r], ys[r], data, sig, r, device=r)
            return ys

    return Tested
'''
DTYPES = {"FP32": np.float32, "INT32": np.int32, "FP16": np.float16, "BF16": np.uint16}  # numpy has its bits only
_numbers = itertools.count()


class Source:
    """The text of a program, in a file."""

    def __init__(self, tmp_path, body, x="1, n", y="1, n", data="1, n", sig="nr, 1", dtype="FP32", window=None, out=None):
        body = textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 12)
        self.text = TEXT.format(
            body=body, x=x, y=y, data=data, sig=sig, dtype=dtype, window=window or dtype, out=out or dtype
        )
        self.path = tmp_path / f"tested_{next(_numbers)}.py"
        self.path.write_text(self.text)

    def line(self, part):
        """The number of the one line that has this text."""
        found = [i for i, line in enumerate(self.text.splitlines(), 1) if part in line]
        assert len(found) == 1, (part, found)
        return found[0]

    def build(self, nr, n):
        spec = importlib.util.spec_from_file_location(self.path.stem, self.path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.build(nr, n)

    def compile(self, nr, n):
        return compiled(self.build(nr, n), nr)


def compiled(program, nr):
    return ir.compile(program, platform="a2a3sim", distributed_config=DistributedConfig(device_ids=list(range(nr))))


def numbers(shape, dtype=np.float32, seed=0):
    """Small integers, so that sums are exact in every type and order."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)
