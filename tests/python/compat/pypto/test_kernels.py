# SPDX-License-Identifier: Apache-2.0
"""Each kernel is proved and computes what it must; each mutant is refuted where it is wrong."""

import numpy as np
import pytest
from frame import Source, numbers
from kernels import KERNELS

N = 12
DTYPES = {"FP32": np.float32, "INT32": np.int32, "FP16": np.float16}

RIGHT = [(name, nr) for name, kernel in KERNELS.items() for nr in kernel.ranks]
MUTANTS = [(name, i) for name, kernel in KERNELS.items() for i in range(len(kernel.mutants))]


def verdict_of(compiled):
    [verdict] = compiled.verdicts
    return verdict


@pytest.mark.parametrize("name, nr", RIGHT)
def test_is_proved_and_right(tmp_path, name, nr):
    kernel = KERNELS[name]
    source = Source(tmp_path, kernel.body, **kernel.frame)
    compiled = source.compile(nr, N)
    assert str(verdict_of(compiled)).endswith("proved")
    dtype = DTYPES[kernel.frame.get("dtype", "FP32")]
    shapes = compiled.declared_shapes()
    for seed in range(2):  # windows are zeros again at the second call
        xs = numbers(shapes[0], dtype, seed)
        ys = np.zeros(shapes[1], dtype)
        compiled(xs, ys)
        np.testing.assert_array_equal(ys, kernel.golden(xs))


@pytest.mark.parametrize("name, i", MUTANTS)
def test_mutants_are_refuted_at_their_line(tmp_path, monkeypatch, name, i):
    monkeypatch.setenv("PEAL_CHECK", "warn")
    kernel = KERNELS[name]
    old, new, kind, where = kernel.mutants[i]
    assert old in kernel.body
    source = Source(tmp_path, kernel.body.replace(old, new), **kernel.frame)
    verdict = verdict_of(source.compile(kernel.ranks[-1], N))
    assert verdict.verdict == "violated", str(verdict)
    assert kind is None or verdict.refutations[0].kind.replace(" ", "_") == kind, str(verdict)
    assert not where or source.line(where) in verdict.lines, (source.line(where), str(verdict))
