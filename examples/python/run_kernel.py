# SPDX-License-Identifier: Apache-2.0
"""Run a kernel on numbers of one's own, and compare it with what the collective means.

    PYTHONPATH=$(peal python-path) python3 examples/python/run_kernel.py
"""

import numpy as np

import peal

KERNEL = """
kernel scaled_sum(inp: in f32[n], out: out f32[n], data: window f32[n], sig: window i32[nranks],
                  scale: f32) {
    data = inp
    barrier(sig)
    acc = data@0
    for r in 1..nranks { acc = acc + data@r }
    out = acc * scale
    barrier(sig)
}
"""

program = peal.parse(KERNEL, name="scaled_sum.peal")
print(peal.check(program, ranks=[2, 3, 4], sizes={"scale": 0.25}).text)

inputs = np.random.default_rng(0).random((4, 1000), "f4")
run = peal.run(program, 4, inputs={"inp": inputs}, sizes={"n": 1000, "scale": 0.25})
for out in run.outputs["out"]:
    np.testing.assert_allclose(out, inputs.mean(axis=0), rtol=1e-5)
print(f"the mean of four ranks: {run!r}")
