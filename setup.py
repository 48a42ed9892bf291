# SPDX-License-Identifier: Apache-2.0
"""The Python package: the module is built by CMake, the rest is python/."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class BuildModule(build_ext):
    def build_extension(self, ext):
        """PEAL_BUILD names a directory where CMake has built it already."""
        build = Path(os.environ.get("PEAL_BUILD") or self.build_temp).resolve()
        if "PEAL_BUILD" not in os.environ:
            options = ["-DCMAKE_BUILD_TYPE=Release", "-DPEAL_TESTS=OFF",
                       f"-DPEAL_PYTHON_EXECUTABLE={sys.executable}"]
            subprocess.run(["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(build), *options], check=True)
            subprocess.run(["cmake", "--build", str(build), "--target", "peal_python"], check=True)
        modules = list((build / "python" / "peal").glob("_peal.*.so"))
        if len(modules) != 1:
            sys.exit(f"{build}: expected one module python/peal/_peal.*.so, found {len(modules)}; is pybind11-dev installed?")
        (module,) = modules
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(module, target)


class BuildFiles(build_py):
    def run(self):
        super().run()
        compat = ROOT / "python" / "compat"
        if compat.is_dir():
            target = Path(self.build_lib) / "peal" / "compat"
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(compat, target, ignore=ignore, dirs_exist_ok=True)


# What setuptools leaves behind is beside what CMake does.
WORK = ROOT / "build" / "pip"
WORK.mkdir(parents=True, exist_ok=True)

setup(
    options={"build": {"build_base": str(WORK)}, "egg_info": {"egg_base": str(WORK)}},
    packages=["peal"],
    package_dir={"": "python"},
    package_data={"peal": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("peal._peal", sources=[])],
    cmdclass={"build_ext": BuildModule, "build_py": BuildFiles},
)
