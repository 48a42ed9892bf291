# SPDX-License-Identifier: Apache-2.0
"""Compiling kernels and shims with the system's compiler, against Peal's headers."""

import os
from pathlib import Path

import peal
from peal import _peal
from peal._unsupported import Named as _Named, missing as _missing, unsupported as _unsupported
from simpler._peal import binaries

from .platform_info import parse_platform
from .pto_isa import PATH

RUNTIMES = ("tensormap_and_ringbuffer", "host_build_graph")


class KernelCompiler(_Named):
    def __init__(self, platform="a2a3"):
        parse_platform(platform)
        self.platform, self.project_root = platform, Path(PATH)

    def get_orchestration_include_dirs(self, runtime_name):
        _expect_runtime(runtime_name)
        return []

    def get_platform_include_dirs(self):
        return []

    def get_incore_include_dirs(self):
        return []

    def compile_incore(self, source_path, core_type="aiv", pto_isa_root=None, extra_include_dirs=None, build_dir=None):
        """A kernel, as bytes for CoreCallable."""
        if core_type == "aic":
            raise NotImplementedError(_unsupported(f"{source_path}: core_type 'aic' (the cube)"))
        if core_type != "aiv":
            raise ValueError(f"core_type: expected aiv or aic, found {core_type!r}")
        kernel = _compiled(_peal.PtoKernel, source_path, extra_include_dirs)
        return binaries.bytes_of(kernel, kernel.library)

    def compile_orchestration(self, runtime_name, source_path, extra_include_dirs=None, build_dir=None):
        """A shim, as bytes for ChipCallable."""
        _expect_runtime(runtime_name)
        shim = _compiled(_peal.PtoShim, source_path, extra_include_dirs)
        return binaries.bytes_of(shim, shim.library)


def _expect_runtime(name):
    if name not in RUNTIMES:
        raise ValueError(f"runtime: expected {' or '.join(RUNTIMES)}, found {name!r}")


def _compiled(make, source_path, extra_include_dirs):
    path = os.fspath(source_path)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path!r}")
    # Drivers name folders of the original that are not here.
    folders = [os.fspath(d) for d in extra_include_dirs or [] if os.path.isdir(d)]
    try:
        return make(path, include_directories=folders)
    except peal.Error as error:
        raise RuntimeError(str(error)) from error


__getattr__ = _missing(__name__)
