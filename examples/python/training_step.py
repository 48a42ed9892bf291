# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training: each rank has a part of the data, and gradients are added up.

    PYTHONPATH=$(peal python-path) peal launch -n 4 python3 examples/python/training_step.py
"""

import numpy as np

import peal

STEPS, RATE, FEATURES, ROWS = 200, 0.1, 8, 64

comm = peal.connect()
truth = np.random.default_rng(0).normal(size=FEATURES)
inputs = np.random.default_rng(1 + comm.rank).normal(size=(ROWS, FEATURES))
targets = inputs @ truth

weights = np.zeros(FEATURES)
comm.broadcast(weights)
gradient = np.empty_like(weights)
add_up = comm.prepare_allreduce(gradient)
for step in range(STEPS):
    gradient[:] = inputs.T @ (inputs @ weights - targets) / (ROWS * comm.nranks)
    add_up.run()
    weights -= RATE * gradient

error = np.array([np.abs(weights - truth).max()])
comm.allreduce(error, op="max")
if comm.rank == 0:
    print(f"{comm.nranks} ranks, {STEPS} steps: largest error {error[0]:.1e}")
assert error[0] < 1e-3
