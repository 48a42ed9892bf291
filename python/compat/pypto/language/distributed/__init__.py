# SPDX-License-Identifier: Apache-2.0
"""What is distributed: `import pypto.language.distributed as pld`."""

from peal._unsupported import missing as _missing

from ..._peal import registry as _registry
from ..._peal.annotations import DistributedTensor  # noqa: F401
from ..._peal.enums import AtomicType, NotifyOp, ReduceOp, WaitCmp  # noqa: F401
from ..._peal.nodes import CommCtxType  # noqa: F401
from ..._peal.nodes import CommCtxType as CommCtx  # noqa: F401

for _name, _function in _registry.OPS.items():
    if _name.startswith("pld.") and _name.count(".") == 1:
        globals()[_name[4:]] = _function
system = _registry.Namespace("pld.system")
tensor = _registry.Namespace("pld.tensor")
tile = _registry.Namespace("pld.tile")

__getattr__ = _missing(__name__, "pld")
