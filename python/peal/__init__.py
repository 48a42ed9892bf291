# SPDX-License-Identifier: Apache-2.0
"""Peal: write a collective once. Prove it, run it, draw it.

Proofs and runs:

    program = peal.parse(text)              # a kernel in the .peal language
    report = peal.check(program, ranks=range(2, 17), expect="allreduce")
    print(report.text)                      # proved, or the shortest way it breaks
    result = peal.run(program, ranks=4, expect="allreduce")

A program that drives many devices:

    with peal.Worker(ranks=4) as worker:
        kernel = peal.DeviceKernel("allreduce", count=256)
        domain = worker.allocate_domain(kernel.windows(4))
        worker.submit_group(kernel, domain, arguments).wait()

Processes that call each other, under `peal launch -n 4 python3 program.py`:

    comm = peal.connect()                   # or in peal.spawn(4, function)
    comm.allreduce(gradient)                # in place; all ranks get the sum

Arrays are those of numpy, anything with the buffer protocol, or with `__dlpack__`; they are used
where they are. Errors are `peal.Error`, and `peal.ProgramError` for programs with errors in them.
"""

from ._errors import Diagnostic, Error, ProgramError, RequirementError
from ._peal import (
    Bits,
    Communicator,
    CommunicatorKernel,
    DeviceKernel,
    Domain,
    DomainWindow,
    Pending,
    Plan,
    Prepared,
    PreparedKernel,
    Program,
    PtoKernel,
    ShardedTensor,
    Task,
    TaskPart,
    TaskTiming,
    Tensor,
    Window,
    WindowSpec,
    bits,
    connect,
    parse,
    parse_file,
    plans_from_json,
    plans_to_json,
)
from ._path import python_path
from ._ranks import spawn
from ._targets import Report, Run, Step, Violation, check, compile, run
from ._worker import Worker

__all__ = [
    "Bits",
    "Communicator",
    "CommunicatorKernel",
    "DeviceKernel",
    "Diagnostic",
    "Domain",
    "DomainWindow",
    "Error",
    "Pending",
    "Plan",
    "Prepared",
    "PreparedKernel",
    "Program",
    "ProgramError",
    "PtoKernel",
    "Report",
    "RequirementError",
    "Run",
    "ShardedTensor",
    "Step",
    "Task",
    "TaskPart",
    "TaskTiming",
    "Tensor",
    "Violation",
    "Window",
    "WindowSpec",
    "Worker",
    "bits",
    "check",
    "compile",
    "connect",
    "parse",
    "parse_file",
    "plans_from_json",
    "plans_to_json",
    "python_path",
    "run",
    "spawn",
]

for _each in (Diagnostic, Error, ProgramError, Report, RequirementError, Run, Step, Violation, Worker):
    _each.__module__ = "peal"  # where users find them
