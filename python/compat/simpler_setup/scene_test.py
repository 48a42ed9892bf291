# SPDX-License-Identifier: Apache-2.0
"""Scene tests: a class says what is compiled, what goes in and what must come out; pytest or the file itself runs it.

`from simpler_setup import scene_test` is the decorator of this module.
"""

import inspect
import os
import sys

from peal._unsupported import NamedEnum as _NamedEnum, missing as _missing

from ._scenes import arguments, callables, cases
from ._scenes.arguments import Scalar, TaskArgsBuilder, TensorArg  # noqa: F401
from ._scenes.callables import CallableNamespace  # noqa: F401


class SceneTestLevel(_NamedEnum):
    CHIP = 2
    NODE = 3
    NETWORK1 = 4


def scene_test(*, level, runtime):
    """Makes a class a scene."""

    def decorate(cls):
        cls._st_level, cls._st_runtime = SceneTestLevel(level), runtime
        cls.CALLABLE = callables.located(cls.CALLABLE, os.path.dirname(os.path.abspath(inspect.getfile(cls))))
        cases.expect_config(cls)
        return cls

    return decorate


class SceneTestCase:
    """What a scene is derived from. It says CALLABLE and CASES, makes arguments, and fills in what must come out."""

    CALLABLE = {}
    CASES = []
    RTOL = ATOL = 1e-5
    SKIP_GOLDEN = False
    RUNTIME_ENV = {}
    _st_chip_handles, _st_sub_handles = {}, {}

    def generate_args(self, params):
        raise NotImplementedError(f"{type(self).__name__}.generate_args(params) returns the arguments")

    def compute_golden(self, args, params):
        raise NotImplementedError(f"{type(self).__name__}.compute_golden(args, params) fills in the results")

    def compare_outputs(self, test_args, golden_args, names, params):
        cases.compare(test_args, golden_args, names, self.RTOL, self.ATOL)

    def test_run(self, st_platform, st_worker, request):
        chosen = cases.Chosen.by_options(request.config)
        for case in chosen.cases_of(type(self)):
            try:
                cases.run_case(self, st_worker, case, chosen)
            except AssertionError as error:
                raise AssertionError(f"{type(self).__name__}::{case['name']}: {error}") from error
            except Exception:  # stays what it is: a task that fails is a RuntimeError
                request.node.add_report_section("call", "scene", f"{type(self).__name__}::{case['name']}")
                raise

    @staticmethod
    def run_module(module_name):
        """The module as a program: ends it."""
        from ._scenes.command import main

        scenes = inspect.getmembers(sys.modules[module_name], cases.is_scene)
        sys.exit(main([each for _, each in scenes if each.__module__ == module_name]))


# What orchestration functions of scenes use to find their tensors again.


def _rehosted_ref_for(args, tensor):
    """A tensor of the running scene, or a contiguous part of one, as an argument of a task."""
    return arguments.reference_for(args, tensor)


def _rehosted_ref(args, name):
    return arguments.reference_for(args, getattr(args, name))


def _rehosted_buffer_for(args, tensor):
    return arguments.buffer_for(args, tensor)[0]


def _build_l3_task_args(args, signature, worker=None):
    """(TaskArgs of all arguments, tagged as the signature says; names of the outputs)"""
    return arguments.task_args_of(args, signature, worker)


__getattr__ = _missing(__name__)
