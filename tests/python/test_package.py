# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: stubs, documents, where it is, what it loads, and the plugin for pytest."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import peal

PACKAGE = Path(peal.__file__).parent
COMMAND = os.environ["PEAL_COMMAND"]


def run(*words, **options):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "MYPYPATH": str(PACKAGE.parent)}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=300, env=environment, **options)


def test_stubs_are_those_of_the_module(tmp_path):
    # What pybind11 adds to every class.
    (tmp_path / "allowed").write_text(r"peal\._peal\.[A-Za-z]+" + "\n" + r"peal\._peal\.[A-Za-z]+\.__init__" + "\n")
    done = run("-m", "mypy.stubtest", "peal._peal", "--concise", "--ignore-unused-allowlist",
               "--allowlist", str(tmp_path / "allowed"),
               cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_have_the_arguments_that_functions_have():
    from peal import _peal

    stubs: dict = {}
    for node in ast.parse((PACKAGE / "_peal.pyi").read_text()).body:
        for each in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(each, ast.FunctionDef):
                known = stubs.setdefault((node.name, each.name), set())
                known.update(arg.arg for arg in [*each.args.args, *each.args.kwonlyargs])

    def documented(function):
        for line in (function.__doc__ or "").splitlines():
            found = re.match(r"(?:\d+\. )?\w+\((.*)\) -> ", line)
            if found:
                flat = found.group(1)
                while "[" in flat:  # the types of arguments have brackets in brackets
                    flat = re.sub(r"\[[^\[\]]*\]", "", flat)
                yield [re.match(r"\*{0,2}(\w+)", part.strip()).group(1) for part in flat.split(",") if part.strip()]

    tree = ast.parse((PACKAGE / "_peal.pyi").read_text()).body
    stubbed = {node.name for node in tree if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert stubbed == {name for name, value in vars(_peal).items() if not name.startswith("_") and callable(value)}
    checked = 0
    for name, value in vars(_peal).items():
        members = vars(value) if isinstance(value, type) else {name: value}
        for member, function in members.items():
            if member.startswith("_") or not callable(function):
                continue
            for arguments in documented(function):
                names = [a for a in arguments if a not in ("self", "kwargs", "args", "arg0")]
                for argument in names:
                    assert argument in stubs[name, member], (name, member, argument)
                checked += 1
    assert checked > 40


def test_the_package_is_typed(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import peal\n"
        "report: peal.Report = peal.check('allreduce', ranks=range(2, 4))\n"
        "plans: list[peal.Plan] = peal.compile('allreduce', 2)\n"
        "def body(comm: peal.Communicator) -> int:\n"
        "    comm.allreduce(bytearray(8), op='sum')\n"
        "    return comm.rank\n"
        "ranks: list[int] = peal.spawn(2, body)\n"
        "peal.Worker(ranks='two')  # E\n"
        "body(3)  # E\n")
    done = run("-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"), str(program),
               cwd=tmp_path)
    errors = [line for line in done.stdout.splitlines() if "error" in line]
    assert [re.search(r"program.py:(\d+)", line).group(1) for line in errors] == ["8", "9"], done.stdout


def test_everything_public_is_documented():
    for name in peal.__all__:
        value = getattr(peal, name)
        assert value.__doc__, name
        if isinstance(value, type) and not issubclass(value, Exception):
            for member, function in vars(value).items():
                if not member.startswith("_") and (callable(function) or isinstance(function, property)):
                    assert function.__doc__, f"{name}.{member}"
    assert {name for name in vars(peal) if not name.startswith("_")} == set(peal.__all__)


def test_numpy_is_loaded_when_it_is_needed():
    done = run("-c", "import sys, peal\nassert 'numpy' not in sys.modules\n"
                     "import array\npeal.spawn(1, lambda comm: comm.allreduce(array.array('d', [1.0])))\n"
                     "assert 'numpy' not in sys.modules")
    assert done.returncode == 0, done.stderr


def test_where_it_is():
    told = subprocess.run([COMMAND, "python-path"], capture_output=True, text=True)
    assert told.stdout == f"{PACKAGE.parent}\n" == f"{peal.python_path()}\n"
    both = subprocess.run([COMMAND, "python-path", "--compat"], capture_output=True, text=True)
    assert both.stdout.startswith(f"{PACKAGE.parent}:")
    assert peal.python_path(compat=True).startswith(f"{PACKAGE.parent}:")


def test_pip_installs_it_without_a_network_or_another_package(tmp_path):
    for each in ("pip", "wheel"):
        pytest.importorskip(each)
    root, target = Path(__file__).parents[2], tmp_path / "installed"
    options = ["--quiet", "--no-build-isolation", "--no-index", "--root-user-action=ignore", "--target", str(target)]
    environment = {**os.environ, "PEAL_BUILD": str(Path(COMMAND).parent)}
    done = subprocess.run([sys.executable, "-m", "pip", "install", *options, str(root)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    text = "import peal; assert peal.check('allreduce', ranks=2); print(peal.__file__, peal.python_path(compat=True))"
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(target)})
    assert told.stdout == f"{target}/peal/__init__.py {target}:{target}/peal/compat\n", told.stderr
    assert (target / "peal" / "py.typed").is_file() and (target / "peal" / "compat" / "pypto" / "language").is_dir()


HASTY = Path(__file__).parents[2] / "examples" / "broken" / "hasty_allreduce.peal"


def test_the_plugin(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import peal\n"
        "def test_right(prove):\n"
        "    assert prove('allreduce', ranks=2).verdict == 'proved'\n"
        "def test_wrong(prove):\n"
        f"    prove({str(HASTY)!r}, ranks=2, expect='allreduce')\n"
        "def test_asserted():\n"
        f"    assert peal.check({str(HASTY)!r}, ranks=2)\n"
        "def test_expected():\n"
        f"    assert not peal.check({str(HASTY)!r}, ranks=2)\n")
    done = run("-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "peal.pytest_plugin", "--peal-html",
               str(tmp_path / "pages"), str(tmp_path / "test_it.py"), cwd=tmp_path)
    assert "2 failed, 2 passed" in done.stdout
    assert done.stdout.count("data race: data@1[0;3]") == 2
    pages = sorted(page.name for page in (tmp_path / "pages").iterdir())
    assert pages == ["test_it.py-test_asserted.html", "test_it.py-test_wrong.html"]
    for page in pages:
        assert "<svg" in (tmp_path / "pages" / page).read_text()
