#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collectives, as the older drivers are written: one task for each chip, windows by their addresses.

    collectives.py broadcast -p a2a3sim -d 0-3
"""

import argparse
import sys

import torch
from ring_allreduce import build, parse_devices
from simpler.task_interface import CallConfig, CommBufferSpec, ContinuousTensor, DataType, TaskArgs, TensorArgType
from simpler.worker import Worker
from simpler_setup.torch_interop import make_tensor_arg

COUNT = 16  # elements of a block
MOST = 256  # elements of a kernel's vector
NBYTES = (2 * MOST + 2 * 16) * 4  # room for two vectors and two rows of cells


def element(rank, i):
    return float(i + 100 * rank)


# By collective: blocks that go in and come out on P ranks, and what element i of the result is.
COLLECTIVES = {
    "broadcast": (lambda p: 1, lambda p: 1, lambda p, rank, i: element(p - 1, i)),
    "all_to_all": (
        lambda p: p,
        lambda p: p,
        lambda p, rank, i: element(i // COUNT, rank * COUNT + i % COUNT),
    ),
    "allgather": (lambda p: 1, lambda p: p, lambda p, rank, i: element(i // COUNT, i % COUNT)),
    "reduce_scatter": (
        lambda p: p,
        lambda p: 1,
        lambda p, rank, i: sum(element(r, rank * COUNT + i) for r in range(p)),
    ),
    "mesh_allreduce": (lambda p: 1, lambda p: 1, lambda p, rank, i: sum(element(r, i) for r in range(p))),
    "two_step_allreduce": (lambda p: p, lambda p: p, lambda p, rank, i: sum(element(r, i) for r in range(p))),
}
COLLECTIVES["all_to_all_put"] = COLLECTIVES["all_to_all"]


def run(platform, device_ids, collective, rounds=1, left_out=0, prepare=None):
    """0 if all results are right, 1 if not. `prepare(orch, worker, domain)` comes before the tasks."""
    nranks = len(device_ids)
    blocks_in, blocks_out, meant = COLLECTIVES[collective]
    inputs = [
        torch.tensor([element(r, i) for i in range(blocks_in(nranks) * COUNT)], dtype=torch.float32).share_memory_()
        for r in range(nranks)
    ]
    outputs = [torch.zeros(blocks_out(nranks) * COUNT, dtype=torch.float32).share_memory_() for _ in range(nranks)]
    worker = Worker(level=3, platform=platform, runtime="tensormap_and_ringbuffer", device_ids=device_ids, build=False)
    chip_id = worker.register(build(platform, collective))
    try:
        worker.init()

        def orchestrate(orch, _args, config):
            with orch.allocate_domain(
                name=collective,
                workers=list(range(nranks)),
                window_size=max(NBYTES, 4096),
                buffers=[CommBufferSpec(name="scratch", dtype="float32", count=MOST, nbytes=NBYTES)],
            ) as domain:
                if prepare:
                    prepare(orch, worker, domain)
                for rank in range(nranks):
                    seen = domain[rank]
                    args = TaskArgs()
                    args.add_tensor(make_tensor_arg(inputs[rank]), TensorArgType.INPUT)
                    args.add_tensor(make_tensor_arg(outputs[rank]), TensorArgType.OUTPUT_EXISTING)
                    args.add_tensor(
                        ContinuousTensor.make(
                            data=seen.buffer_ptrs["scratch"], shapes=(MOST,), dtype=DataType.FLOAT32, child_memory=True
                        ),
                        TensorArgType.INOUT,
                    )
                    for scalar in (seen.domain_size, COUNT, seen.device_ctx, left_out, nranks - 1):
                        args.add_scalar(scalar)
                    orch.submit_next_level(chip_id, args, config, worker=rank)

        status = 0
        for _ in range(rounds):
            for tensor in outputs:
                tensor.fill_(-1.0)
            worker.run(orchestrate, args=None, config=CallConfig())
            for rank, output in enumerate(outputs):
                golden = torch.tensor([meant(nranks, rank, i) for i in range(output.numel())], dtype=torch.float32)
                difference = float((output - golden).abs().max())
                print(f"rank {rank}: largest difference {difference}")
                status |= difference > 1e-3
    finally:
        worker.close()
    return status


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("collective", choices=sorted(COLLECTIVES))
    parser.add_argument("-p", "--platform", default="a2a3")
    parser.add_argument("-d", "--device", default="0-3")
    options = parser.parse_args()
    return run(options.platform, parse_devices(options.device), options.collective)


if __name__ == "__main__":
    sys.exit(main())
