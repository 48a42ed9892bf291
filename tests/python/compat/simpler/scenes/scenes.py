#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scenes: collected by pytest with the plugin, or run as a program."""

import ctypes

import torch
from simpler.task_interface import ArgDirection as D
from simpler.task_interface import CommBufferSpec, DataType, TaskArgs, TensorArgType
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test
from simpler_setup.scene_test import _build_l3_task_args, _rehosted_ref, _rehosted_ref_for

KERNELS = "../drivers/kernels"
COUNT = 64
WINDOW = (256 + 16) * 4


def chip(name, function, incores, signature):
    return {
        "name": name,
        "orchestration": {"source": f"{KERNELS}/chip_orch.cpp", "function_name": function, "signature": signature},
        "incores": [
            {"func_id": number, "source": f"{KERNELS}/{source}_kernel.cpp", "core_type": "aiv", "signature": signature}
            for number, source in incores
        ],
    }


TWICE = chip("twice", "twice", [(0, "twice")], [D.IN, D.OUT])
ALLREDUCE = chip("allreduce", "allreduce", [(0, "stage"), (7, "sum")], [D.IN, D.OUT, D.INOUT])
ALLREDUCE["orchestration"]["config_name"] = "allreduce_config"


def vector(rank):
    return torch.tensor([float(i + 10 * rank) for i in range(COUNT)], dtype=torch.float32)


def run_allreduce(orch, callables, args, config):
    chips = list(range(args.nranks.value))
    spec = CommBufferSpec(name="w", dtype="float32", count=COUNT, nbytes=WINDOW)
    with orch.allocate_domain(name="d", workers=chips, window_size=4096, buffers=[spec]) as domain:
        poison = torch.tensor([float("nan")] * 256)
        for c in chips:  # what a window holds where nobody has written is not seen
            orch.copy_to(domain[c].buffers["w"], poison)
        lists = []
        for c in chips:
            task = TaskArgs()
            task.add_tensor(_rehosted_ref_for(args, args.inputs[c]), TensorArgType.INPUT)
            task.add_tensor(_rehosted_ref_for(args, args.outputs[c]), TensorArgType.OUTPUT_EXISTING)
            task.add_tensor(domain[c].buffers["w"].tensor((COUNT,), DataType.FLOAT32), TensorArgType.INOUT)
            for scalar in (domain[c].domain_size, domain[c].device_ctx, args.left_out.value):
                task.add_scalar(scalar)
            lists.append(callables.keep(task))
        orch.submit_next_level_group(callables.allreduce, lists, config, workers=chips)


@scene_test(level=3, runtime="tensormap_and_ringbuffer")
class TestAllreduce(SceneTestCase):
    CALLABLE = {"orchestration": run_allreduce, "callables": [ALLREDUCE]}
    CASES = [
        {"name": f"p{n}", "platforms": ["a2a3sim", "a5sim"], "config": {"device_count": n}, "params": {"nranks": n}}
        for n in (1, 2, 3, 4)
    ]
    CASES += [
        {"name": "by_hand", "manual": ["a2a3sim"], "config": {"device_count": 2}, "params": {"nranks": 2}},
        {"name": "elsewhere", "platforms": ["a5"], "config": {"device_count": 2}, "params": {"nranks": 2}},
    ]

    def generate_args(self, params):
        n = params["nranks"]
        inputs = torch.zeros(n, COUNT)
        for r in range(n):
            inputs[r].copy_(vector(r))
        return TaskArgsBuilder(
            TensorArg("inputs", inputs),
            TensorArg("outputs", torch.zeros(n, COUNT).fill_(-1.0)),
            Scalar("nranks", ctypes.c_int32(n)),
            Scalar("left_out", ctypes.c_int32(params.get("left_out", 0))),
        )

    def compute_golden(self, args, params):
        n = params["nranks"]
        for r in range(n):
            args.outputs[r].copy_(torch.tensor([float(n * i + 5 * n * (n - 1)) for i in range(COUNT)], dtype=torch.float32))


@scene_test(level=3, runtime="tensormap_and_ringbuffer")
class TestWithoutASync(TestAllreduce):
    """Is refuted: chosen by hand."""

    CALLABLE = {"orchestration": run_allreduce, "callables": [ALLREDUCE]}
    CASES = [
        {"name": f"wrong{n}", "manual": True, "config": {"device_count": 2}, "params": {"nranks": 2, "left_out": n}}
        for n in (1, 2, 3)
    ]


def add_one(args):
    """Runs on a sub worker."""
    assert (args.tensor_count(), args.scalar_count(), args[0].shapes, args[0].dtype) == (1, 0, (COUNT,), 0)
    values = args[0].buffer.cast("f")
    for i in range(COUNT):
        values[i] += 1


def run_chain(orch, callables, args, config):
    """Twice on one chip, plus one by Python, twice on another."""
    first, outputs = _build_l3_task_args(args, [*callables.twice_sig, D.INOUT])
    assert outputs == ["y", "z"]
    task = TaskArgs()
    task.add_tensor(_rehosted_ref(args, "x"))
    task.add_tensor(_rehosted_ref(args, "y"), TensorArgType.OUTPUT_EXISTING)
    orch.submit_next_level(callables.twice, task, config, worker=0)
    sub = TaskArgs()
    sub.add_tensor(_rehosted_ref(args, "y"), TensorArgType.INOUT)
    orch.submit_sub(callables.add_one, sub)
    last = TaskArgs()
    last.add_tensor(_rehosted_ref(args, "y"))
    last.add_tensor(_rehosted_ref(args, "z"), TensorArgType.OUTPUT)
    orch.submit_next_level(callables.twice, last, config, worker=1)


@scene_test(level=3, runtime="tensormap_and_ringbuffer")
class TestChain(SceneTestCase):
    CALLABLE = {"orchestration": run_chain, "callables": [TWICE, {"name": "add_one", "callable": add_one}]}
    CASES = [{"name": "chain", "config": {"device_count": 2, "num_sub_workers": 1}}]
    RTOL = ATOL = 0

    def generate_args(self, params):
        return TaskArgsBuilder(*(TensorArg(name, vector(0)) for name in "xyz"))

    def compute_golden(self, args, params):
        args.y.copy_(torch.tensor([2.0 * i + 1 for i in range(COUNT)], dtype=torch.float32))
        args.z.copy_(torch.tensor([4.0 * i + 2 for i in range(COUNT)], dtype=torch.float32))


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestTwice(SceneTestCase):
    CALLABLE = TWICE
    CASES = [{"name": "right"}, {"name": "not_compared", "skip_golden": True, "params": {"wrong": True}}]

    def generate_args(self, params):
        return TaskArgsBuilder(TensorArg("x", vector(1)), TensorArg("y", vector(2)))

    def compute_golden(self, args, params):
        assert not params
        args.y.copy_(torch.tensor([2.0 * i + 20 for i in range(COUNT)], dtype=torch.float32))


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestMistaken(TestTwice):
    """Expects what is not so: chosen by hand."""

    CALLABLE = TWICE
    CASES = [{"name": "mistaken", "manual": True}]

    def compute_golden(self, args, params):
        args.y.fill_(3.0)


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
