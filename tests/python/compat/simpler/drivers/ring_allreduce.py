#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A ring allreduce of 256 floats, as the older drivers are written: one task for each chip, windows by their addresses.

    ring_allreduce.py -p a2a3sim -d 0-3
"""

import argparse
import os
import sys

import torch
from simpler.task_interface import (
    ArgDirection,
    CallConfig,
    ChipCallable,
    CommBufferSpec,
    ContinuousTensor,
    CoreCallable,
    DataType,
    TaskArgs,
    TensorArgType,
)
from simpler.worker import Worker
from simpler_setup.elf_parser import extract_text_section
from simpler_setup.kernel_compiler import KernelCompiler
from simpler_setup.pto_isa import ensure_pto_isa_root
from simpler_setup.torch_interop import make_tensor_arg

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels")
COUNT = 256
SIGNATURE = [ArgDirection.IN, ArgDirection.OUT, ArgDirection.INOUT]


def parse_devices(text):
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def build(platform, name="ring_allreduce"):
    compiler = KernelCompiler(platform=platform)
    root = ensure_pto_isa_root(commit=None, clone_protocol="https")
    runtime = "tensormap_and_ringbuffer"
    folders = compiler.get_orchestration_include_dirs(runtime)
    incore = compiler.compile_incore(
        source_path=os.path.join(KERNELS, f"{name}_kernel.cpp"),
        core_type="aiv",
        pto_isa_root=root,
        extra_include_dirs=[*folders, str(compiler.project_root / "src" / "common")],
    )
    if not platform.endswith("sim"):
        incore = extract_text_section(incore)
    shim = compiler.compile_orchestration(runtime_name=runtime, source_path=os.path.join(KERNELS, "collective_orch.cpp"))
    core = CoreCallable.build(signature=SIGNATURE, binary=incore)
    return ChipCallable.build(
        signature=SIGNATURE,
        func_name="collective",
        config_name="collective_config",
        binary=shim,
        children=[(0, core)],
    )


def run(platform, device_ids, rounds=1, left_out=0, prepare=None):
    """0 if all results are right, 1 if not. `prepare(orch, worker, domain)` comes before the tasks."""
    nranks = len(device_ids)
    if not 1 <= nranks <= 16:
        raise ValueError(f"expected 1 to 16 devices, found {nranks}")
    inputs = [torch.tensor([float(i + 100 * r) for i in range(COUNT)], dtype=torch.float32) for r in range(nranks)]
    outputs = [torch.zeros(COUNT, dtype=torch.float32) for _ in range(nranks)]
    for tensor in inputs + outputs:
        tensor.share_memory_()
    worker = Worker(
        level=3, platform=platform, runtime="tensormap_and_ringbuffer", device_ids=device_ids, num_sub_workers=0, build=False
    )
    chip_id = worker.register(build(platform))
    try:
        worker.init()

        def orchestrate(orch, _args, config):
            nbytes = (COUNT + 16 * 2 * 16) * 4
            with orch.allocate_domain(
                name="ring",
                workers=list(range(nranks)),
                window_size=max(nbytes, 4096),
                buffers=[CommBufferSpec(name="scratch", dtype="float32", count=COUNT, nbytes=nbytes)],
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
                            data=seen.buffer_ptrs["scratch"], shapes=(COUNT,), dtype=DataType.FLOAT32, child_memory=True
                        ),
                        TensorArgType.INOUT,
                    )
                    args.add_scalar(seen.domain_size)
                    args.add_scalar(seen.device_ctx)
                    args.add_scalar(left_out)
                    orch.submit_next_level(chip_id, args, config, worker=rank)

        for _ in range(rounds):
            for tensor in outputs:
                tensor.fill_(-1.0)
            worker.run(orchestrate, args=None, config=CallConfig())
            whole = COUNT // nranks * nranks
            golden = torch.tensor(
                [float(nranks * i + 100 * nranks * (nranks - 1) // 2) if i < whole else -1.0 for i in range(COUNT)]
            )
            for rank in range(nranks):
                difference = float((outputs[rank] - golden).abs().max())
                print(f"rank {rank}: largest difference {difference}")
                if difference > 1e-3:
                    return 1
    finally:
        worker.close()
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3")
    parser.add_argument("-d", "--device", default="0-3")
    options = parser.parse_args()
    return run(options.platform, parse_devices(options.device))


if __name__ == "__main__":
    sys.exit(main())
