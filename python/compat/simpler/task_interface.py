# SPDX-License-Identifier: Apache-2.0
"""What tasks are made of: callables, arguments, and the words for them."""

import ctypes
import struct
from dataclasses import dataclass, field

from peal._unsupported import Named as _Named, NamedEnum as _NamedEnum, missing as _missing

from ._peal.elements import DataType
from ._peal.elements import element as _element
from .buffer import MAX_TENSOR_DIMS, Buffer, ContinuousTensor, Tensor  # noqa: F401

MAX_REGISTERED_CALLABLE_IDS = 64
COMM_MAX_RANK_NUM = 64
MAX_CHIP_TENSORS, MAX_CHIP_SCALARS = 256, 128
MAX_CHILDREN, MAX_NAME = 1024, 63


class TensorArgType(_NamedEnum):
    INPUT = 0
    OUTPUT = 1
    INOUT = 2
    OUTPUT_EXISTING = 3
    NO_DEP = 4


class ArgDirection(_NamedEnum):
    SCALAR = 0
    IN = 1
    OUT = 2
    INOUT = 3


def get_element_size(dtype):
    """Bytes of an element."""
    return _element(dtype)[1]


def get_dtype_name(dtype):
    return DataType(dtype).name


def arg_direction_name(direction):
    return ArgDirection(direction).name


def scalar_to_uint64(value):
    """The bits of a number, as scalars travel."""
    if isinstance(value, float):
        return struct.unpack("<I", struct.pack("<f", value))[0]
    if isinstance(value, ctypes.c_float):
        return struct.unpack("<I", struct.pack("<f", value.value))[0]
    if isinstance(value, ctypes.c_double):
        return struct.unpack("<Q", struct.pack("<d", value.value))[0]
    return int(getattr(value, "value", value)) & (2**64 - 1)


# ---------------------------------------------------------------------------- arguments


class TaskArgs(_Named):
    """The tensors of a task, and behind them its scalars."""

    def __init__(self):
        self.clear()

    def clear(self):
        self._tensors, self._tags, self._scalars = [], [], []

    def add_tensor(self, tensor, tag=TensorArgType.INPUT):
        if isinstance(tensor, Buffer) and tensor._whole is not None:
            tensor = tensor._whole
        if not isinstance(tensor, (Tensor, ContinuousTensor)):
            raise TypeError(f"add_tensor: expected a tensor argument, found {type(tensor).__name__}")
        if self._scalars:
            raise RuntimeError("add_tensor: all tensors come before the first scalar")
        if len(self._tensors) == MAX_CHIP_TENSORS:
            raise RuntimeError(f"add_tensor: a task has at most {MAX_CHIP_TENSORS} tensors")
        tag = TensorArgType(tag)
        _expect_writable(tensor, tag)
        self._tensors.append(tensor)
        self._tags.append(tag)

    def add_scalar(self, value):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"add_scalar: expected an int, found {type(value).__name__}; scalar_to_uint64 makes one")
        value = value.__index__()
        if not 0 <= value < 2**64:
            raise ValueError(f"add_scalar: expected 64 bits without a sign, found {value}")
        if len(self._scalars) == MAX_CHIP_SCALARS:
            raise RuntimeError(f"add_scalar: a task has at most {MAX_CHIP_SCALARS} scalars")
        self._scalars.append(value)

    def tensor(self, i):
        return self._tensors[_index(i, self._tensors, "tensor")]

    def scalar(self, i):
        return self._scalars[_index(i, self._scalars, "scalar")]

    def tag(self, i):
        return self._tags[_index(i, self._tags, "tensor")]

    def set_tag(self, i, tag):
        tag = TensorArgType(tag)
        _expect_writable(self.tensor(i), tag)
        self._tags[i] = tag

    def tensor_count(self):
        return len(self._tensors)

    def scalar_count(self):
        return len(self._scalars)

    def __len__(self):
        return len(self._tensors) + len(self._scalars)


def _index(i, items, what):
    if not 0 <= i < len(items):
        raise IndexError(f"{what} {i} of {len(items)}")
    return i


_READS = (TensorArgType.INPUT, TensorArgType.NO_DEP)


def _expect_writable(tensor, tag):
    if tag not in _READS and isinstance(tensor, Tensor) and tensor.buffer.access == 0:
        raise ValueError(
            f"add_tensor: {tag.name} of memory that can only be read: call share_memory_() on the tensor first"
        )


# ---------------------------------------------------------------------------- callables


def _signature(signature):
    return [ArgDirection(d) for d in signature]


class CoreCallable(_Named):
    """One kernel."""

    def __init__(self, signature, binary):
        self._signature, self.binary = signature, binary

    @staticmethod
    def build(signature, binary, arg_index=None):
        return CoreCallable(_signature(signature), bytes(binary))

    sig_count = property(lambda self: len(self._signature))
    binary_size = property(lambda self: len(self.binary))

    def sig(self, i):
        return self._signature[_index(i, self._signature, "argument")]


class ChipCallable(_Named):
    """A shim and the kernels that it launches."""

    def __init__(self, signature, func_name, binary, children, config_name):
        self._signature, self.func_name, self.binary = signature, func_name, binary
        self._children, self.config_name = children, config_name

    @staticmethod
    def build(signature, func_name, binary, children, config_name=""):
        for name in (func_name, config_name):
            if len(name) > MAX_NAME:
                raise ValueError(f"{name!r}: a function's name has at most {MAX_NAME} characters")
        children = [(int(number), child) for number, child in children]
        if len(children) > MAX_CHILDREN:
            raise ValueError(f"a chip callable has at most {MAX_CHILDREN} kernels, found {len(children)}")
        if len({number for number, _ in children}) != len(children):
            raise ValueError("two kernels of a chip callable have the same number")
        return ChipCallable(_signature(signature), func_name, bytes(binary), children, config_name)

    sig_count = property(lambda self: len(self._signature))
    binary_size = property(lambda self: len(self.binary))
    child_count = property(lambda self: len(self._children))

    def sig(self, i):
        return self._signature[_index(i, self._signature, "argument")]

    def child_func_id(self, i):
        return self._children[_index(i, self._children, "kernel")][0]

    def child(self, i):
        return self._children[_index(i, self._children, "kernel")][1]

    def buffer_size(self):
        return self.binary_size + sum(child.binary_size for _, child in self._children)

    def buffer_ptr(self):
        return id(self)


# ---------------------------------------------------------------------------- domains and runs


@dataclass
class CommBufferSpec(_Named):
    """A piece of a domain's window. Only its name and size count."""

    name: str
    dtype: str = "float32"
    count: int = 0
    nbytes: int = 0
    load_from_host: bool = False
    store_to_host: bool = False


@dataclass
class ChipDomainContext(_Named):
    """A domain, as one of its chips sees it."""

    name: str
    domain_rank: int
    domain_size: int
    device_ctx: int
    local_window_base: int
    actual_window_size: int
    buffers: dict = field(default_factory=dict)

    @property
    def buffer_ptrs(self):
        return {name: buffer.base for name, buffer in self.buffers.items()}


class RuntimeEnv(_Named):
    """Sizes of rings that Peal does not have: kept, checked, and not used."""

    _NAMES = ("ring_task_window", "ring_heap", "ring_dep_pool")

    def __init__(self):
        for name in self._NAMES:
            object.__setattr__(self, name, [0] * 4)

    def __setattr__(self, name, value):
        if name not in self._NAMES:
            raise AttributeError(f"runtime_env has no {name}")
        values = [int(value)] * 4 if isinstance(value, int) else [int(v) for v in value]
        if len(values) != 4:
            raise ValueError(f"{name}: expected a number or a list of 4, found {len(values)}")
        object.__setattr__(self, name, values)


class CallConfig(_Named):
    """How a run is observed on a device: kept, checked, and not used."""

    _LEVELS = {"enable_chip_swimlane": 4, "enable_dump_args": 3}

    def __init__(self):
        self.aicpu_thread_num = 0
        self.enable_chip_swimlane = self.enable_dump_args = self.enable_pmu = 0
        self.enable_dep_gen = self.enable_scope_stats = False
        self.output_prefix = ""
        self.runtime_env = RuntimeEnv()

    def __setattr__(self, name, value):
        if name in self._LEVELS:
            most = self._LEVELS[name]
            on = {"enable_chip_swimlane": 4, "enable_dump_args": 1}[name]
            value = on if value is True else max(0, min(int(value), most))
        if name == "output_prefix" and len(value.encode()) > 1023:
            raise ValueError("output_prefix has at most 1023 bytes")
        object.__setattr__(self, name, value)

    def validate(self):
        observes = ("enable_chip_swimlane", "enable_dump_args", "enable_pmu", "enable_dep_gen", "enable_scope_stats")
        on = [name for name in observes if getattr(self, name)]
        if on and not self.output_prefix:
            raise ValueError(f"{on[0]} needs an output_prefix")
        env = self.runtime_env
        for n in env.ring_task_window:
            if n and (n < 4 or n & (n - 1)):
                raise ValueError(f"ring_task_window: expected 0 or a power of two from 4 on, found {n}")
        for name, least in (("ring_heap", 1024), ("ring_dep_pool", 4)):
            for n in getattr(env, name):
                if n and n < least:
                    raise ValueError(f"{name}: expected 0 or at least {least}, found {n}")

    def __repr__(self):
        return f"CallConfig({', '.join(f'{k}={v!r}' for k, v in vars(self).items() if k != 'runtime_env')})"


__getattr__ = _missing(__name__)
