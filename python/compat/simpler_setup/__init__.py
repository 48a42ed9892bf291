# SPDX-License-Identifier: Apache-2.0
"""What stands around drivers written for `simpler`: compiling, and scene tests."""

from peal._unsupported import missing as _missing

from .elf_parser import extract_text_section  # noqa: F401
from .kernel_compiler import KernelCompiler  # noqa: F401
from .platform_info import parse_platform  # noqa: F401
from .pto_isa import ensure_pto_isa_root  # noqa: F401
from .scene_test import (  # noqa: F401
    CallableNamespace,
    Scalar,
    SceneTestCase,
    SceneTestLevel,
    TaskArgsBuilder,
    TensorArg,
    scene_test,
)
from .torch_interop import make_chip_tensor_arg, torch_dtype_to_datatype  # noqa: F401

__version__ = "0+peal"

__getattr__ = _missing(__name__)
