# SPDX-License-Identifier: Apache-2.0
"""The ring allreduce as today's drivers are written: one group, tensors of buffers."""

import torch
from ring_allreduce import COUNT, build
from simpler.task_interface import CommBufferSpec, DataType, TaskArgs, TensorArgType
from simpler.worker import Worker

NBYTES = (COUNT + 16 * 2 * 16) * 4


def run(device_ids, platform="a2a3sim", groups=1, left_out=0, prepare=None):
    """What each chip has after so many groups in one run, each on a domain of its own. `prepare(orch, worker, domain)` comes before
    the tasks."""
    nranks = len(device_ids)
    chips = list(range(nranks))
    inputs = [torch.tensor([float(i + 100 * r) for i in range(COUNT)]).share_memory_() for r in chips]
    outputs = [torch.zeros(COUNT).fill_(-1.0).share_memory_() for _ in chips]
    worker = Worker(level=3, platform=platform, runtime="tensormap_and_ringbuffer", device_ids=device_ids)
    handle = worker.register(build(platform))
    worker.init()
    try:

        def orchestrate(orch, _args, config):
            spec = CommBufferSpec(name="scratch", dtype="float32", count=COUNT, nbytes=NBYTES)
            domains = [
                orch.allocate_domain(name=f"d{g}", workers=chips, window_size=NBYTES, buffers=[spec]) for g in range(groups)
            ]
            for domain in domains if prepare else ():
                prepare(orch, worker, domain)
            # The sums go back and forth between the two lists.
            source, target = inputs, outputs
            for domain in domains:
                lists = []
                for chip in chips:
                    args = TaskArgs()
                    args.add_tensor(
                        worker.make_tensor_arg(source[chip], shapes=(COUNT,), dtype=DataType.FLOAT32), TensorArgType.INPUT
                    )
                    args.add_tensor(
                        worker.make_tensor_arg(target[chip], shapes=(COUNT,), dtype=DataType.FLOAT32),
                        TensorArgType.OUTPUT_EXISTING,
                    )
                    scratch = domain[chip].buffers["scratch"].tensor((COUNT,), DataType.FLOAT32)
                    args.add_tensor(scratch, TensorArgType.INOUT)
                    args.add_scalar(domain[chip].domain_size)
                    args.add_scalar(domain[chip].device_ctx)
                    args.add_scalar(left_out)
                    lists.append(args)
                orch.submit_next_level_group(handle, lists, config, workers=chips)
                source, target = target, source

        worker.run(orchestrate)
    finally:
        worker.close()
    return outputs if groups % 2 else inputs
