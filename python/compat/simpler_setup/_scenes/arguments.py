# SPDX-License-Identifier: Apache-2.0
"""The arguments of a scene, and their place in memory that chips share."""

import copy
from typing import Any, NamedTuple

from simpler._peal import arrays
from simpler.task_interface import ArgDirection, TaskArgs, TensorArgType, scalar_to_uint64


class TensorArg(NamedTuple):
    name: str
    value: Any


class Scalar(NamedTuple):
    name: str
    value: Any


class TaskArgsBuilder:
    """Named tensors, and behind them named scalars; `args.name` is the value of one."""

    def __init__(self, *specs):
        self._specs, self._hosted = {}, {}
        for spec in specs:
            self._add(spec)

    def add_tensor(self, name, value):
        self._add(TensorArg(name, value))

    def add_scalar(self, name, value):
        self._add(Scalar(name, value))

    def _add(self, spec):
        if not isinstance(spec, (TensorArg, Scalar)):
            raise TypeError(f"expected TensorArg or Scalar, found {type(spec).__name__}")
        if spec.name in self._specs:
            raise ValueError(f"two arguments have the name {spec.name!r}")
        if spec.name.startswith("_") or hasattr(type(self), spec.name):
            raise ValueError(f"{spec.name!r} cannot be the name of an argument: it is that of a method")
        if isinstance(spec, TensorArg) and any(isinstance(s, Scalar) for s in self._specs.values()):
            raise ValueError(f"tensor {spec.name!r} comes behind a scalar: all tensors come first")
        self._specs[spec.name] = spec

    def __getattr__(self, name):
        specs = self.__dict__.get("_specs", {})
        if name not in specs:
            raise AttributeError(f"there is no argument {name!r}; there are {', '.join(specs) or 'none'}")
        return specs[name].value

    @property
    def specs(self):
        return list(self._specs.values())

    def tensor_names(self):
        return [s.name for s in self._specs.values() if isinstance(s, TensorArg)]

    def clone(self):
        """The same with copies of the values."""
        return TaskArgsBuilder(
            *(
                TensorArg(s.name, arrays.copy_of(s.value)) if isinstance(s, TensorArg) else Scalar(s.name, copy.copy(s.value))
                for s in self._specs.values()
            )
        )

    def _replace(self, name, value):
        self._specs[name] = TensorArg(name, value)


class hosted:
    """With its tensors in buffers of a worker: `with hosted(worker, args): ...`. Afterwards they are where they were, with
    what was left in the buffers."""

    def __init__(self, worker, args):
        self._worker, self._args, self._before = worker, args, {}

    def __enter__(self):
        args = self._args
        tensors = {name: getattr(args, name) for name in args.tensor_names()}
        tensors = {name: tensor for name, tensor in tensors.items() if arrays.nbytes_of(tensor)}
        _expect_plain(tensors)
        try:
            for name, tensor in tensors.items():
                buffer = self._worker.create_buffer(arrays.nbytes_of(tensor))
                view = arrays.view_of(buffer.shm.buf, tensor)
                arrays.assign(view, tensor)
                self._before[name] = tensor
                args._hosted[name] = buffer
                args._replace(name, view)
        except BaseException:
            self.__exit__()
            raise
        return args

    def __exit__(self, *_):
        for name, tensor in self._before.items():
            arrays.assign(tensor, getattr(self._args, name))
            self._args._replace(name, tensor)
        buffers = list(self._args._hosted.values())
        self._args._hosted.clear()
        for buffer in buffers:
            buffer.close()


def _expect_plain(tensors):
    ranges = []
    for name, tensor in tensors.items():
        if not arrays.is_on_host(tensor):
            raise ValueError(f"argument {name!r}: expected a tensor on the CPU")
        if not arrays.is_contiguous(tensor):
            raise ValueError(f"argument {name!r}: expected a contiguous tensor")
        begin = arrays.address_of(tensor)
        ranges.append((begin, begin + arrays.nbytes_of(tensor), name))
    ranges.sort()
    for (_, end, name), (begin, _, other) in zip(ranges, ranges[1:]):
        if begin < end:
            raise ValueError(f"arguments {name!r} and {other!r} overlap in memory")


def buffer_for(args, tensor):
    """The buffer that a tensor of a running scene, or a part of one, lies in; and at which byte."""
    begin = arrays.address_of(tensor)
    for buffer in args._hosted.values():
        if buffer.base <= begin and begin + arrays.nbytes_of(tensor) <= buffer.base + buffer.nbytes:
            return buffer, begin - buffer.base
    raise ValueError("the tensor is no argument of the scene that is running, nor a part of one")


def reference_for(args, tensor):
    """It as an argument of a task."""
    buffer, offset = buffer_for(args, tensor)
    if not arrays.is_contiguous(tensor):
        raise ValueError("expected a contiguous tensor")
    return buffer.tensor(tuple(tensor.shape), arrays.dtype_of(tensor.dtype), byte_offset=offset)


_TAGS = {
    ArgDirection.IN: TensorArgType.INPUT,
    ArgDirection.OUT: TensorArgType.OUTPUT_EXISTING,
    ArgDirection.INOUT: TensorArgType.INOUT,
}


def task_args_of(args, signature, worker=None):
    """(TaskArgs, names of the outputs): all arguments in order, tagged as the signature says."""
    directions = [ArgDirection(d) for d in signature if d != ArgDirection.SCALAR]
    names = args.tensor_names()
    if len(names) != len(directions):
        raise ValueError(f"the signature has {len(directions)} tensors, the scene {len(names)}: {', '.join(names)}")
    made, outputs = TaskArgs(), []
    for name, direction in zip(names, directions):
        tensor = getattr(args, name)
        if name in args._hosted:
            argument = reference_for(args, tensor)
        elif worker is not None:
            argument = worker.make_tensor_arg(tensor, tuple(tensor.shape), arrays.dtype_of(tensor.dtype))
        else:
            raise ValueError(f"argument {name!r} is in no buffer of a worker")
        made.add_tensor(argument, _TAGS[direction])
        if direction != ArgDirection.IN:
            outputs.append(name)
    for spec in args.specs:
        if isinstance(spec, Scalar):
            made.add_scalar(scalar_to_uint64(spec.value))
    return made, outputs
