# SPDX-License-Identifier: Apache-2.0
"""The ops that programs may write, by the name they write: what it takes, what its value is, what is refused.

An op is a Python function from operands to a node, so that wrong arguments are told in Python's own words.
The modules `pypto.language` and `pypto.language.distributed`, the parser and docs/compatibility.md are made from this list.
"""

from contextlib import contextmanager

from peal._unsupported import attribute_error

from . import dtypes, nodes

OPS = {}  # written name, "pld.system.notify" -> function
_here = [nodes.Span.unknown()]


# The operand whose memory is the value of an op.
RESULT = {
    "tile.store": 2,
    "tensor.assemble": 0,
    "tensor.slice": 0,
    "tensor.reshape": 0,
    "pld.tensor.allreduce": 0,
    "pld.tensor.barrier": 0,
    "pld.tensor.broadcast": 0,
    "pld.tensor.allgather": 1,
    "pld.tensor.reduce_scatter": 0,
    "pld.tensor.all_to_all": 1,
    "pld.tensor.all_to_all_v": 1,
}


def op(*names, note=""):
    def add(function):
        function.note = note
        for name in names:
            OPS[name] = function
        return function

    return add


@contextmanager
def at(span):
    """Nodes that are made inside come from `span`, and so do exceptions."""
    _here.append(span)
    try:
        yield
    except Exception as error:
        if not hasattr(error, "read_at"):
            error.read_at = span
        raise
    finally:
        _here.pop()


def here():
    return _here[-1]


_in_host = [False]


@contextmanager
def inside(is_host):
    """Ops that are made inside stand in a HOST function, or in one of a device."""
    _in_host.append(is_host)
    try:
        yield
    finally:
        _in_host.pop()


def in_host():
    return _in_host[-1]


def alias_of(value):
    """The parameter of the function that a value is the memory of: its place, or None."""
    if isinstance(value, (nodes.Var, nodes.TupleGetItemExpr)):
        return getattr(value, "alias", None)
    if not isinstance(value, nodes.Call):
        return None
    if isinstance(value.op, nodes.GlobalVar):
        return value.aliases[0] if len(value.aliases) == 1 else None
    memory = RESULT.get(value.op.name)
    return None if memory is None else alias_of(value.args[memory])


def make(name, args, kwargs=None, type=None):
    return nodes.Call(nodes.Op(name), args, kwargs, type, here())


class Namespace:
    """`pld.system` and its like: the ops whose names begin with it."""

    def __init__(self, prefix):
        self._prefix = prefix

    def __getattr__(self, name):
        found = OPS.get(f"{self._prefix}.{name}")
        if found is None:
            raise attribute_error(self._prefix, name)
        return found

    def __dir__(self):
        return [name[len(self._prefix) + 1 :] for name in OPS if name.startswith(self._prefix + ".")]


# ---------------------------------------------------------------------------- operands


def constant(value):
    """The number that an operand is known to be, or None."""
    if isinstance(value, nodes.Const):
        value = value.value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_expr(value, dtype=None):
    """A Python constant as a node."""
    if isinstance(value, nodes.Expr):
        return value
    if isinstance(value, bool):
        return nodes.ConstBool(value, dtypes.BOOL, here())
    if isinstance(value, int):
        return nodes.ConstInt(value, dtype or dtypes.INDEX, here())
    if isinstance(value, float):
        return nodes.ConstFloat(value, dtype or dtypes.FP32, here())
    if isinstance(value, (list, tuple)):
        return nodes.MakeTuple([as_expr(v) for v in value], here())
    raise TypeError(f"a {type(value).__name__} is no value of a kernel")


def integer(value, who):
    expr = as_expr(value)
    if not isinstance(expr.type, nodes.ScalarType) or not expr.type.dtype.is_int():
        raise TypeError(f"{who} must be an integer or index scalar, found {expr.type}")
    return expr


def index_list(value, who, rank=None):
    """Offsets or a shape: one integer for each dimension."""
    if isinstance(value, nodes.MakeTuple):
        value = value.elements
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{who} must be a tuple or a list of integers")
    if rank is not None and len(value) != rank:
        raise ValueError(f"{who} rank {len(value)} does not match the rank of the tensor, {rank}")
    what = who.removesuffix("s") if who.endswith("offsets") else who
    return nodes.MakeTuple([integer(v, f"{what} {i}") for i, v in enumerate(value)], here())


def memory(value, who):
    if not isinstance(getattr(value, "type", None), nodes.TensorType):
        found = getattr(value, "type", None) or type(value).__name__
        raise TypeError(f"{who} must be a Tensor or a DistributedTensor, found {found}")
    return value


def window(value, who):
    if not isinstance(getattr(value, "type", None), nodes.DistributedTensorType):
        found = getattr(value, "type", None) or type(value).__name__
        raise TypeError(f"{who} must be a DistributedTensor, found {found}")
    return value


def member(value, kind, who):
    if not isinstance(value, kind):
        words = ", ".join(f"{kind.__name__}.{m.name}" for m in kind)
        raise TypeError(f"{who} must be one of {words}; found {value!r}")
    return value


def natural(value, who):
    number = constant(value)
    if number is None:
        raise TypeError(f"{who} must be an integer that is known when the program is read")
    if number < 0:
        raise ValueError(f"{who} must be non-negative, found {number}")
    return number


def require_room(where, offsets, extent, shape):
    """What is known to leave the memory is an error; what is not known is checked when the plan is made."""
    for i, (offset, count, size) in enumerate(zip(offsets, extent, shape)):
        offset, count, size = constant(offset), constant(count), constant(size)
        if offset is not None and offset < 0:
            raise ValueError(f"{where(i)}: offset {offset} is negative")
        if None not in (offset, count, size) and offset + count > size:
            raise ValueError(f"{where(i)}: elements {offset}..{offset + count} of {size}")
