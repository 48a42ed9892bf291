# SPDX-License-Identifier: Apache-2.0
"""What the packages do not have is refused by its name, whatever way a program asks for it, and Python's own ways of asking whether
something is there go on working."""

import copy
import importlib.util
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys

import pypto
import pypto.language as pl
import pypto.language.distributed as pld
import pypto.pypto_core.ir
import pytest
import simpler
import simpler_setup
from peal import _unsupported
from pypto import ir
from pypto.ir.distributed_compiled_program import DistributedConfig
from pypto.runtime import RunConfig
from simpler import buffer, task_interface
from simpler.worker import Worker

SHOWN = {"pypto.language": "pl", "pypto.language.distributed": "pld", "pypto.pypto_core.passes": "passes"}
MODULES = sorted(
    {
        each
        for package in (pypto, simpler, simpler_setup)
        for each in (package.__name__, *(m.name for m in pkgutil.walk_packages(package.__path__, package.__name__ + ".")))
        if not re.search(r"\._(peal|scenes)\b", each)
    }
)


def words(what):
    return f"{what} is not supported by Peal; docs/compatibility.md lists what is"


def refused(error, what):
    return pytest.raises(error, match=f"^{re.escape(words(what))}$")


def test_the_modules_are_found():
    assert len(MODULES) > 20 and {"pypto.ir", "simpler.worker", "simpler_setup.scene_test"} < set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_refuses_by_name(name):
    module = importlib.import_module(name)
    what = f"{SHOWN.get(name, name)}.nothing_like_it"
    with refused(AttributeError, what):
        module.nothing_like_it
    for statement in (f"from {name} import nothing_like_it", f"import {name}.nothing_like_it", f"import {name}.nothing_like_it as n"):
        with refused(ModuleNotFoundError, what):
            exec(statement)
    assert not hasattr(module, "nothing_like_it") and getattr(module, "nothing_like_it", 7) == 7
    with pytest.raises(AttributeError, match=f"^{SHOWN.get(name, name)} has no __nothing__$"):
        module.__nothing__
    with pytest.raises(ImportError, match="^cannot import name '__nothing__' from"):
        exec(f"from {name} import __nothing__")
    assert importlib.util.find_spec(f"{name}.nothing_like_it") is None and importlib.util.find_spec(name) is not None
    with refused(ModuleNotFoundError, what):
        importlib.import_module(f"{name}.nothing_like_it")
    assert inspect.unwrap(module) is module and inspect.getmodule(module) is module


@pytest.mark.parametrize(
    "statement, what",
    [
        ("from pypto import frontend", "pypto.frontend"),
        ("from pypto.language import matmul", "pl.matmul"),
        ("import pypto.runtime.device_runner", "pypto.runtime.device_runner"),
        ("import simpler.orchestrator", "simpler.orchestrator"),
        ("from simpler_setup import scene_level", "simpler_setup.scene_level"),
        ("from simpler.task_interface import RemoteWorker", "simpler.task_interface.RemoteWorker"),
    ],
)
def test_imports_that_programs_have(statement, what):
    with refused(ImportError, what):
        exec(statement)


@pytest.mark.parametrize(
    "ask, what",
    [
        (lambda: pl.matmul, "pl.matmul"),
        (lambda: pld.tensor.reduce_max, "pld.tensor.reduce_max"),
        (lambda: pl.jit.aicore, "pl.jit.aicore"),
        (lambda: pypto.pypto_core.ir.foo, "pypto.pypto_core.ir.foo"),
        (lambda: pypto.DataType.FP6, "DataType.FP6"),
        (lambda: pl.FP32.mantissa, "DataType.mantissa"),
        (lambda: RunConfig().block_dim, "RunConfig.block_dim"),
        (lambda: DistributedConfig().nodes, "DistributedConfig.nodes"),
        (lambda: Worker(3, device_ids=[0]).add_worker, "Worker.add_worker"),
        (lambda: Worker.add_worker, "Worker.add_worker"),
        (lambda: task_interface.TaskArgs().add_tensors, "TaskArgs.add_tensors"),
        (lambda: task_interface.ChipCallable.load, "ChipCallable.load"),
        (lambda: buffer.AccessMode.EXECUTE, "AccessMode.EXECUTE"),
    ],
)
def test_objects_and_classes_refuse_by_name(ask, what):
    with refused(AttributeError, what):
        ask()


def enums_of(*modules):
    found = {v for m in modules for v in vars(m).values() if inspect.isclass(v) and issubclass(v, _unsupported.NamedEnum)}
    return sorted(found - {_unsupported.NamedEnum}, key=lambda enum: (enum.__module__, enum.__name__))


@pytest.mark.parametrize("enum", enums_of(pl, pld, ir, task_interface, buffer, simpler_setup), ids=lambda enum: enum.__name__)
def test_enums_are_numbers_as_before(enum):
    with refused(AttributeError, f"{enum.__name__}.Avg"):
        enum.Avg
    assert not hasattr(enum, "Avg") and "Avg" not in enum.__members__
    for member in enum:
        assert enum[member.name] is member is enum(int(member)) is getattr(enum, member.name) is pickle.loads(pickle.dumps(member))
        assert copy.deepcopy(member) is member and f"{member!r}" == f"<{enum.__name__}.{member.name}: {int(member)}>"
        assert not hasattr(member, "Avg")
    with pytest.raises(ValueError, match="^99 is not a valid"):
        enum(99)


def test_objects_are_copied_and_pickled():
    config = task_interface.CallConfig()
    config.enable_pmu = 2
    for twin in (copy.copy(config), copy.deepcopy(config), pickle.loads(pickle.dumps(config))):
        assert vars(twin).keys() == vars(config).keys() and twin.enable_pmu == 2
    spec = task_interface.CommBufferSpec(name="a", nbytes=4)
    assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    assert copy.deepcopy(pl.FP32) == pickle.loads(pickle.dumps(pl.FP32)) == pl.FP32


def test_what_others_ask_of_modules_works(tmp_path):
    """pytest collects a file that has imported all names, doctest looks through it, and other packages are missing as always."""
    (tmp_path / "test_it.py").write_text(
        "import inspect\nimport pypto, simpler, simpler_setup\nimport pypto.language as pl\nfrom simpler import worker, task_interface\n"
        "from simpler_setup import *\nfrom simpler.worker import *\nfrom pypto.ir import *\n"
        'def test_it():\n    """\n    >>> 1 + 1\n    2\n    """\n    assert inspect.getmembers(worker) and inspect.signature(worker.Worker)\n'
    )
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout
    with pytest.raises(ModuleNotFoundError, match="^No module named 'pyptolemy'$"):
        import pyptolemy  # noqa: F401
