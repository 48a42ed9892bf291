# SPDX-License-Identifier: Apache-2.0
"""docs/compatibility.md says what the code has."""

import subprocess
import sys
from pathlib import Path

import pypto
import pytest
from pypto._peal import compatibility

ROOT = Path(__file__).parents[4]


def test_the_page_is_made_from_the_code():
    page = (ROOT / "docs" / "compatibility.md").read_text()
    begin, end = page.index(compatibility.BEGIN), page.index(compatibility.END) + len(compatibility.END)
    assert page[begin:end] == compatibility.text(), "python3 -m pypto._peal.compatibility prints the part anew"


def test_the_package_says_whose_it_is():
    assert "peal" in pypto.__version__
    assert (Path(pypto.__file__).resolve().parent / "_peal").is_dir()


PLUGIN_TEST = """
import pytest

def test_devices(device_ids, test_config):
    assert device_ids == [0, 1, 2, 5]
    assert test_config.platform == "a2a3sim"
    assert (test_config.enable_pmu, test_config.enable_dep_gen) == (True, False)

@pytest.mark.platforms("a5")
def test_elsewhere():
    assert False

def test_directory():
    import os
    assert os.path.isdir(os.environ["PYPTO_PROG_BUILD_DIR"])
"""


def run_pytest(path, *options):
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pypto.pytest_plugin"]
    return subprocess.run([*command, *options, path], capture_output=True, text=True)


def test_the_plugin_has_options_and_fixtures(tmp_path):
    (tmp_path / "test_it.py").write_text(PLUGIN_TEST)
    done = run_pytest(tmp_path, "--device=0-2,1,5", "--platform=a2a3sim", "--codegen-only", "--enable-pmu")
    assert "2 passed, 1 skipped" in done.stdout, done.stdout


@pytest.mark.parametrize("option", ["--device=a", "--device=1-", "--platform=b9"])
def test_the_plugin_refuses_what_cannot_be(tmp_path, option):
    done = run_pytest(tmp_path, option)
    assert done.returncode == 4
    assert "expected" in done.stderr


@pytest.mark.parametrize("first", ["pypto.ir", "pypto.runtime", "pypto.language", "pypto.language.parser.diagnostics"])
def test_any_module_may_be_imported_first(first):
    subprocess.run([sys.executable, "-B", "-c", f"import {first}"], check=True)
