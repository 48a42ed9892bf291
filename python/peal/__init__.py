# SPDX-License-Identifier: Apache-2.0
"""Peal: write a collective once. Prove it, run it, draw it.

Programs and plans:

    program = peal.parse(text)              # a kernel in the .peal language
    print(program.show("lowered"))          # its collectives written out

A program that drives many devices:

    with peal.Worker(ranks=4) as worker:
        kernel = peal.DeviceKernel("allreduce", count=256)
        domain = worker.allocate_domain(kernel.windows(4))
        worker.submit_group(kernel, domain, arguments).wait()

Arrays are those of numpy, anything with the buffer protocol, or with `__dlpack__`; they are used
where they are. Errors are `peal.Error`, and `peal.ProgramError` for programs with errors in them.
"""

from ._errors import Diagnostic, Error, ProgramError, RequirementError
from ._peal import (
    Bits,
    DeviceKernel,
    Domain,
    DomainWindow,
    Plan,
    Program,
    PtoKernel,
    ShardedTensor,
    Task,
    TaskPart,
    TaskTiming,
    Tensor,
    WindowSpec,
    bits,
    compile_program,
    parse,
    parse_file,
    plans_from_json,
    plans_to_json,
)
from ._worker import Worker

__all__ = [
    "Bits",
    "DeviceKernel",
    "Diagnostic",
    "Domain",
    "DomainWindow",
    "Error",
    "Plan",
    "Program",
    "ProgramError",
    "PtoKernel",
    "RequirementError",
    "ShardedTensor",
    "Task",
    "TaskPart",
    "TaskTiming",
    "Tensor",
    "WindowSpec",
    "Worker",
    "bits",
    "compile_program",
    "parse",
    "parse_file",
    "plans_from_json",
    "plans_to_json",
]

for _each in (Diagnostic, Error, ProgramError, RequirementError, Worker):
    _each.__module__ = "peal"  # where users find them
