# SPDX-License-Identifier: Apache-2.0
"""A driver: two layers on devices of a worker, each a local product and a sum across ranks.

    PYTHONPATH=$(peal python-path) python3 examples/python/driver.py [ranks]
"""

import sys

import numpy as np

import peal

SCALE = "kernel scale(inp: in f32[n], out: out f32[n], by: f32) { out = inp * by }"
COUNT = 256
ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 4

with peal.Worker(ranks=ranks, check=True) as worker:
    scale = peal.DeviceKernel(peal.parse(SCALE))
    add_up = peal.DeviceKernel("allreduce", count=COUNT, recipe="ring")
    domain = worker.allocate_domain(add_up.windows(ranks), name="all")
    x = [worker.alloc(rank, COUNT) for rank in range(ranks)]
    part = [worker.alloc(rank, COUNT) for rank in range(ranks)]
    for rank in range(ranks):
        worker.upload(np.full(COUNT, rank + 1, "f4"), x[rank])
    for layer in range(2):  # nothing is waited for: what tasks read and write orders them
        for rank in range(ranks):
            worker.submit(scale, rank, [x[rank], part[rank], 1.0 / ranks], name=f"scale {layer}")
        arguments = [[part[r], x[r], domain["data"], domain["signal"]] for r in range(ranks)]
        worker.submit_group(add_up, domain, arguments, name=f"add up {layer}")
    results = np.zeros((ranks, COUNT), "f4")
    for rank in range(ranks):
        worker.download(x[rank], results[rank])
    worker.wait()
    print(worker.table())

np.testing.assert_allclose(results, (ranks + 1) / 2, rtol=1e-6)
print(f"{ranks} devices: the mean, {results[0, 0]}, everywhere")
