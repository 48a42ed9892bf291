# SPDX-License-Identifier: Apache-2.0
"""Words of the language. The numbers are those that programs may convert them to."""

from peal._unsupported import NamedEnum


class NotifyOp(NamedEnum):
    AtomicAdd = 0
    Set = 1


class WaitCmp(NamedEnum):
    Eq = 0
    Ge = 1


class AtomicType(NamedEnum):
    None_ = 0
    Add = 1


class ReduceOp(NamedEnum):
    Sum = 0
    Max = 1
    Min = 2
    Prod = 3


class FunctionType(NamedEnum):
    Opaque = 0
    Orchestration = 1
    InCore = 2
    AIC = 3
    AIV = 4
    Group = 5
    Spmd = 6
    Inline = 7
    Graph = 8


class Level(NamedEnum):
    AIV = 0
    AIC = 1
    CORE_GROUP = 2
    CHIP_DIE = 3
    CHIP = 4
    HOST = 5
    CLUSTER_0 = 6
    CLUSTER_1 = 7
    CLUSTER_2 = 8
    GLOBAL = 9
    L2CACHE = 3
    PROCESSOR = 4
    UMA = 4
    NODE = 5
    POD = 6
    CLOS1 = 7
    CLOS2 = 8


class Role(NamedEnum):
    Orchestrator = 0
    SubWorker = 1


class ParamDirection(NamedEnum):
    In = 0
    Out = 1
    InOut = 2


class ForKind(NamedEnum):
    Sequential = 0
    Parallel = 1
    Unroll = 2
    Pipeline = 3


class MemorySpace(NamedEnum):
    DDR = 0
    Vec = 1
    Mat = 2
    Left = 3
    Right = 4
    Acc = 5
    Bias = 6


class ArgDirection(NamedEnum):
    Input = 0
    Output = 1
    InOut = 2
    OutputExisting = 3
    NoDep = 4
    Scalar = 5
