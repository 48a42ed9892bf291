# SPDX-License-Identifier: Apache-2.0
"""Passes over programs: `passes.lower_composite_ops()(program)` is another program. Those that run need none of them: `ir.compile`
takes a program before and after any."""

from peal._unsupported import Named

from . import nodes
from .arithmetic import refuse
from .composites import LowerCompositeOps
from .directions import ConvertTensorToTileOps
from .host_passes import LowerHostTensorCollectives, SynthesizeAllreduceSignals, checked_domains
from .ssa import ConvertToSSA, UnrollLoops
from .visiting import IRVisitor, assert_structural_equal, structural_equal

_contexts = []


class Pass(Named):
    def __init__(self, name, run):
        self._name, self._run = name, run

    def get_name(self):
        return self._name

    def __call__(self, program):
        if not isinstance(program, nodes.Program):
            raise TypeError(f"{self._name} takes a program made by @pl.program, found {type(program).__name__}")
        made = self._run(program)
        if made is not program and structural_equal(made, program):
            made = program
        for context in _contexts:
            for instrument in context.instruments:
                instrument.after(self, made)
        return made

    def __repr__(self):
        return f"<pass {self._name}>"


class VerificationInstrument(Named):
    """After each pass: what the program prints is read again, and is the same program."""

    def __init__(self, *modes, **options):
        pass

    def after(self, done, program):
        from .parser import parse_text

        assert_structural_equal(parse_text(str(program)), program)


class PassContext(Named):
    def __init__(self, instruments=(), *options, **more):
        self.instruments = list(instruments)

    def __enter__(self):
        _contexts.append(self)
        return self

    def __exit__(self, *error):
        _contexts.remove(self)


class _Tiles(IRVisitor):
    def visit_call(self, call):
        if isinstance(call.type, nodes.TileType) and len(call.type.shape) > 2:
            refuse(f"a tile of {len(call.type.shape)} dimensions is not made one of two", call.span)
        super().visit_call(call)


def _flattened(program):
    _Tiles().visit_program(program)
    return program


PASSES = {
    "convert_to_ssa": ("ConvertToSSA", lambda program: ConvertToSSA().program(program), ""),
    "unroll_loops": ("UnrollLoops", lambda program: UnrollLoops().program(program), "`pl.unroll`"),
    "lower_composite_ops": (
        "LowerCompositeOps",
        lambda program: LowerCompositeOps().program(program),
        "collectives of kernels, as Peal's recipes write them out",
    ),
    "convert_tensor_to_tile_ops": (
        "ConvertTensorToTileOps",
        lambda program: ConvertTensorToTileOps().program(program),
        "and directions, from what is done with a parameter",
    ),
    "flatten_tile_nd_to_2d": ("FlattenTileNdTo2D", _flattened, "changes nothing: tiles of more dimensions are refused"),
    "synthesize_allreduce_signals": (
        "SynthesizeAllreduceSignals",
        lambda program: SynthesizeAllreduceSignals().program(program),
        "",
    ),
    "materialize_comm_domain_scopes": (
        "MaterializeCommDomainScopes",
        checked_domains,
        "changes nothing: finds windows that belong to no domain",
    ),
    "lower_host_tensor_collectives": (
        "LowerHostTensorCollectives",
        lambda program: LowerHostTensorCollectives().program(program),
        "for domains of all devices",
    ),
    "insert_comm_fence": ("InsertCommFence", lambda program: program, "changes nothing: a notify publishes all before it"),
}


def _maker(name):
    title, run, _ = PASSES[name]

    def make():
        return Pass(title, run)

    make.__name__ = name
    return make


for _name in PASSES:
    globals()[_name] = _maker(_name)
