# SPDX-License-Identifier: Apache-2.0
"""Programs written as functions: `@pl.jit.host`, `@pl.jit`, `@pl.jit.incore`. What a function calls is found by its name when the
program is made, and annotations without a shape take the shapes of what is given."""

import sys

from peal._unsupported import Named, attribute_error

from . import nodes, parser
from .annotations import DistributedTensor, Tensor
from .compiled import compile
from .dtypes import ALL
from .enums import FunctionType, Level, Role
from .run_config import RunConfig, required


class JitFunction(Named):
    """A function under `@pl.jit` or its like. A host function is compiled, lowered and called."""

    def __init__(self, function, kind, level, role, names):
        self.marked = parser.Marked(function, kind, level, role, False)
        self.__name__, self.__doc__, self._names = function.__name__, function.__doc__, names
        self._compiled = {}

    def names(self):
        """What its body may use: globals, the names around it, and what it has captured."""
        function = self.marked.function
        captured = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                captured[name] = cell.cell_contents
            except ValueError:  # not given yet
                pass
        return {**function.__globals__, **self._names, **captured}

    def is_host(self):
        return self.marked.level == Level.HOST and self.marked.role == Role.Orchestrator

    def lower(self, *samples, config=None):
        """The program, for arguments like these; with full annotations none are needed."""
        if not self.is_host():
            raise TypeError(f"{self.__name__} is not a host function: @pl.jit.host marks one")
        return _Program(self, samples).made()

    def compile(self, *samples, config=None):
        config = required(config) or RunConfig(platform=None)
        return compile(self.lower(*samples), platform=config.platform, distributed_config=config.distributed_config)

    def __call__(self, *args, config=None):
        devices = getattr(required(config), "distributed_config", None) and config.distributed_config.device_ids
        key = str([(list(a.shape), str(a.dtype)) if hasattr(a, "shape") else None for a in args]), str(devices)
        if key not in self._compiled:
            self._compiled[key] = self.compile(*args, config=config)
        return self._compiled[key](*args)


class _Program:
    """A host function and all that it calls."""

    def __init__(self, host, samples):
        self.host, self.samples, self.signatures, self.functions = host, samples, {}, []

    def made(self):
        read = self.read(self.host, [type_of(s) for s in self.samples])
        return nodes.Program(self.host.__name__, self.functions, read.span)

    def read(self, function, types):
        """The function, read; `types` are those of its arguments, for annotations that do not say."""
        reader = _Reader(self, function, types)
        reader.guarded(reader.read_signature)
        reader.guarded(reader.read_body)
        self.functions.extend([*reader.blocks, reader.result])
        return reader.result

    def callee(self, function, types):
        if function.__name__ not in self.signatures:
            self.read(function, types)
        return self.signatures[function.__name__]


class _Reader(parser.FunctionParser):
    def __init__(self, program, function, types):
        super().__init__(function.marked, function.names(), program.signatures)
        self.program, self.types = program, types

    def declared(self, kind, argument, place):
        """A parameter's type: as annotated, or as the argument has it."""
        if kind not in (Tensor, DistributedTensor):
            return kind
        given = self.types[place] if place < len(self.types) else None
        if not isinstance(given, nodes.TensorType):
            raise parser.ParserTypeError(
                f"'{argument.arg}' is annotated without a shape, and no argument says it", self.span(argument)
            )
        return given

    def bare_call(self, tree):
        """A call of another function of this kind, by its name."""
        name = tree.func.id
        if name in self.scope or not isinstance(self.names.get(name), JitFunction):
            return super().bare_call(tree)
        args = [self.value(a) for a in tree.args]
        callee = self.program.callee(self.names[name], [a.type for a in args])
        return self.call_of(callee.name, callee, args, tree)


def type_of(sample):
    if not hasattr(sample, "shape"):
        return None
    name = str(sample.dtype).removeprefix("torch.")
    found = next((d for d in ALL if (d.numpy or "bfloat16") == name and d.peal and d.name != "INDEX"), None)
    return None if found is None else nodes.TensorType([int(d) for d in sample.shape], found)


def _marker(kind, level=None, role=None):
    def mark(function=None, **options):
        unknown = set(options) - {"level", "role", "auto_scope", "attrs", "name"}
        if unknown:
            raise TypeError(f"pl.jit: unexpected keyword argument '{sorted(unknown)[0]}'")
        frame = sys._getframe(1)
        names = dict(frame.f_locals) if frame.f_locals is not frame.f_globals else {}
        chosen = level or (options.get("level") if kind == FunctionType.Opaque else None)

        def marked(function):
            return JitFunction(function, kind, chosen, role, names)

        return marked if function is None else marked(function)

    return mark


class _Jit:
    """`@pl.jit` marks what a device is given; its attributes mark the host's function and kernels."""

    host = staticmethod(_marker(FunctionType.Opaque, Level.HOST, Role.Orchestrator))
    incore = staticmethod(_marker(FunctionType.InCore))
    inline = staticmethod(_marker(FunctionType.Inline))
    opaque = staticmethod(_marker(FunctionType.Opaque))
    __call__ = staticmethod(_marker(FunctionType.Orchestration))

    def __getattr__(self, name):
        raise attribute_error("pl.jit", name)


jit = _Jit()
