# SPDX-License-Identifier: Apache-2.0
"""Each kernel is proved and computes what it must; each mutant is refuted where it is wrong."""

import numpy as np
import pytest
from frame import DTYPES, Source, numbers
from kernels import FILL, KERNELS

N = 12

RIGHT = [(name, nr) for name, kernel in KERNELS.items() for nr in kernel.ranks]
MUTANTS = [(name, i) for name, kernel in KERNELS.items() for i in range(len(kernel.mutants))]


def verdict_of(compiled):
    [verdict] = compiled.verdicts
    return verdict


@pytest.mark.parametrize("name, nr", RIGHT)
def test_is_proved_and_right(tmp_path, name, nr):
    """Twice on windows of each call's own, and twice on windows that stay and are zeroed: the second call finds them dirty."""
    kernel = KERNELS[name]
    source = Source(tmp_path, kernel.body, **kernel.frame)
    compiled = source.compile(nr, N)
    verdict = verdict_of(compiled)
    assert verdict.verdict == "proved", str(verdict)
    if nr > 1:  # of one rank several things are true
        assert verdict.meaning == kernel.meaning, str(verdict)
    dtype = DTYPES[kernel.frame.get("dtype", "FP32")]
    shapes = compiled.declared_shapes()

    def call(run, seed):
        xs, ys = numbers(shapes[0], dtype, seed), np.full(shapes[1], FILL, dtype)
        run(xs, ys)
        np.testing.assert_array_equal(ys, kernel.golden(xs))

    call(compiled, 0)
    call(compiled, 1)
    with compiled.prepare(persistent=True) as worker:
        call(worker, 2)
        call(worker, 3)


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
