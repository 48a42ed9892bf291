# SPDX-License-Identifier: Apache-2.0
"""The cases of a scene: which are meant, and what one of them does."""

import contextlib
import os

from simpler._peal import arrays
from simpler.task_interface import CallConfig

from .arguments import hosted, task_args_of
from .callables import CallableNamespace, entries_of

MANUAL = ("exclude", "include", "only")
CONFIG = ("aicpu_thread_num", "runtime_env", "device_count", "num_sub_workers")


class Chosen:
    """What was asked for on the command line."""

    def __init__(self, platform, names=(), manual="exclude", rounds=1, skip_golden=False):
        self.platform, self.names, self.manual = platform, list(names or ()), manual
        self.rounds, self.skip_golden = rounds, skip_golden

    @staticmethod
    def by_options(config):
        option = config.getoption
        return Chosen(option("--platform"), option("--case"), option("--manual"), option("--rounds"), option("--skip-golden"))

    def cases_of(self, cls):
        return [case for case in cls.CASES if self._takes(cls, case)]

    def _takes(self, cls, case):
        if self.platform not in case.get("platforms", [self.platform]):
            return False
        is_manual = is_manual_for(case.get("manual", False), self.platform)
        if is_manual and self.manual == "exclude" or not is_manual and self.manual == "only":
            return False
        return not self.names or any(_names(name, cls, case) for name in self.names)


def is_scene(cls):
    return isinstance(cls, type) and hasattr(cls, "_st_level")


def is_manual_for(manual, platform):
    """`manual` is a bool, a platform, or a list of them."""
    if isinstance(manual, bool):
        return manual
    return platform in ([manual] if isinstance(manual, str) else manual)


def _names(name, cls, case):
    """ "case", "Class::case" or "Class::", which is all of them."""
    of, colons, which = name.rpartition("::")
    return (not colons or of == cls.__name__) and which in ("", case["name"])


def largest(cases, key, least):
    return max([case.get("config", {}).get(key, least) for case in cases], default=least)


def expect_config(cls):
    for case in cls.CASES:
        for key in case.get("config", {}):
            if key not in CONFIG:
                raise ValueError(f"{cls.__name__}::{case['name']}: config: expected {', '.join(CONFIG)}, found {key!r}")


def run_case(scene, worker, case, chosen):
    """One case, so many times; AssertionError if the results are not what they must be."""
    for _ in range(chosen.rounds):
        with _environment(scene.RUNTIME_ENV):
            _run_once(scene, worker, case, chosen.skip_golden)


def _run_once(scene, worker, case, skip_golden):
    cls, params = type(scene), case.get("params", {})
    args = scene.generate_args(params)
    is_compared = not (skip_golden or cls.SKIP_GOLDEN or case.get("skip_golden", False))
    golden = args.clone() if is_compared else None
    if is_compared:
        scene.compute_golden(golden, params)
    config = _call_config(case.get("config", {}))
    if cls._st_level == 2:
        names = _run_chip(cls, worker, args, config)
    else:
        names = _run_node(cls, worker, args, config)
    if is_compared:
        scene.compare_outputs(args, golden, names, params)


def _run_chip(cls, worker, args, config):
    (entry,) = entries_of(cls)
    task, outputs = task_args_of(args, cls._st_chip_handles[f"{entry['name']}_sig"], worker)
    worker.run(cls._st_chip_handles[entry["name"]], task, config)
    return outputs


def _run_node(cls, worker, args, config):
    callables = CallableNamespace({**cls._st_chip_handles, **cls._st_sub_handles})
    orchestration = cls.CALLABLE["orchestration"]
    with hosted(worker, args):
        worker.run(lambda orch, given, config: orchestration(orch, callables, given, config), args, config)
    return args.tensor_names()


def compare(found, golden, names, rtol, atol):
    for name in names:
        one, other = getattr(found, name), getattr(golden, name)
        if not arrays.all_close(one, other, rtol, atol):
            raise AssertionError(f"{name} is not what it must be (rtol {rtol}, atol {atol}): {arrays.difference(one, other)}")


def _call_config(given):
    config = CallConfig()
    config.aicpu_thread_num = given.get("aicpu_thread_num", 0)
    for name, value in given.get("runtime_env", {}).items():
        setattr(config.runtime_env, name, value)
    return config


@contextlib.contextmanager
def _environment(variables):
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update({name: str(value) for name, value in variables.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
