# SPDX-License-Identifier: Apache-2.0
"""The host's function, carried out for one call: which device runs what, on which memory.

What comes out is a list of stages. A stage is what the devices of one domain do one after another, with nothing of another
domain in between; it becomes one kernel of Peal, so that everything that its dispatches do together is proved together.
"""

from math import prod

from . import nodes
from .arithmetic import CompileError, fold, refuse, solve
from .directions import inferred
from .enums import ParamDirection
from .host_passes import require_domain
from .registry import RESULT


MOST_RING_RANKS = 16
PADDING = 32  # bytes: buffers are multiples of it


class HostTensor:
    """A part of an argument of the call: elements from `offset` on."""

    is_window = False

    def __init__(self, index, name, offset, shape, dtype):
        self.index, self.name, self.offset, self.shape, self.dtype = index, name, offset, shape, dtype

    def key(self):
        return (self.index, self.offset, tuple(self.shape))

    def meets(self, other):
        """Whether they have elements in common."""
        apart = self.offset + prod(self.shape) <= other.offset or other.offset + prod(other.shape) <= self.offset
        return self.index == other.index and not apart


class Buffer:
    """A window buffer: so many bytes on each rank."""

    def __init__(self, name, size, span):
        self.name, self.bytes, self.span = name, size, span
        self.dtype = None  # once it is viewed
        self.elements = 0
        self.devices = set()  # of the dispatches that use it


class View:
    """A window: a buffer as elements of a shape."""

    is_window = True
    offset = 0

    def __init__(self, buffer, shape, dtype):
        self.buffer, self.shape, self.dtype = buffer, shape, dtype

    def key(self):
        return (id(self.buffer), tuple(self.shape))


class Dispatch:
    def __init__(self, device, function, args, span):
        self.device, self.function, self.args, self.span = device, function, args, span

    def buffers(self):
        return [a.buffer for a in self.args if isinstance(a, View)]


class Together(Dispatch):
    """A collective that the host asks of all devices of a domain."""

    def __init__(self, expr, args):
        super().__init__(None, None, args, expr.span)
        self.expr = expr


class SubWork(Dispatch):
    """Python of the program, between what devices do."""

    def __init__(self, function, args, span):
        super().__init__(None, function, args, span)


class Meeting:
    """All that was dispatched so far is over before what follows."""


class Step:
    """One position in the order of a stage: the same function on these members, or on one of them."""

    def __init__(self, dispatches, members):
        self.function, self.span = dispatches[0].function, dispatches[0].span
        self.expr = getattr(dispatches[0], "expr", None)  # of a collective
        self.members = members  # ranks in the domain, by dispatch
        self.args = list(zip(*(d.args for d in dispatches)))  # by parameter, then by member


class Stage:
    def __init__(self, devices, dispatches, reserved):
        self.devices = devices
        self.dispatches = dispatches
        self.reserved = reserved  # names of the call's window buffers
        self.steps = []
        queues = [[d for d in dispatches if d.device in (device, None)] for device in devices]
        for k in range(max(map(len, queues))):
            row = [(rank, queue[k]) for rank, queue in enumerate(queues) if k < len(queue)]
            if len(row) == len(devices) and all(alike(row[0][1], d) for _, d in row):
                self.steps.append(Step([d for _, d in row], [r for r, _ in row]))
            else:
                self.steps.extend(Step([d], [r]) for r, d in row)

    def buffers(self):
        """In the order of their first use."""
        return list({id(b): b for d in self.dispatches for b in d.buffers()}.values())


def alike(a, b):
    """Whether two dispatches are parts of one: the same function on the same windows, with the same numbers but for integers."""
    if a.function is None or b.function is None:
        return a is b
    return a.function is b.function and all(map(alike_argument, a.args, b.args))


def alike_argument(x, y):
    if isinstance(x, View) or isinstance(y, View):
        return x.key() == y.key()
    return x == y or not isinstance(x, float) and not isinstance(y, float)


class HostRun:
    """Carries out the statements of the host's function. Nothing is computed here but indices and sizes."""

    def __init__(self, program, function, world_size, shapes, scalars):
        self.program, self.function, self.world_size = program, function, world_size
        self.values, self.buffers, self.dispatches = {}, [], []
        self.symbols, self.loops = {}, 0
        self.created, self.given = [], len(shapes)  # tensors beside those that are given
        self.directions = None  # of functions, once somebody asks
        self.retyped = None  # the first window buffer that is viewed as two types of element
        self.groups = {}  # of buffers that meet, once all dispatches are known
        tensors = [p for p in function.params if isinstance(p.type, nodes.TensorType)]
        for param, shape in zip(tensors, shapes):
            solve(param, shape, self.symbols)
        for i, (param, shape) in enumerate(zip(tensors, shapes)):
            declared = [fold(d, self.number) for d in param.type.shape]
            if declared != list(shape):
                raise CompileError(f"parameter '{param}' is {declared}, the argument {list(shape)}", param.span)
            self.values[param.name_hint] = HostTensor(i, param.name_hint, 0, list(shape), param.type.dtype)
        for name, value in scalars.items():
            self.values[name] = value

    def stages(self):
        """Stages, with what the host does between them."""
        self.block(self.function.body.stmts)
        self.place_collectives()
        if self.retyped is not None:  # if that is two windows of one collective, it is said first
            raise self.retyped
        self.require_used()
        everybody = list(range(self.world_size))
        made, open_devices, open_list = [], None, []

        def close(*then):
            nonlocal open_list
            if open_list:
                made.append(Stage(open_devices, open_list, {b.name for b in self.buffers}))
                made.extend(then)
            open_list = []

        for dispatch in self.in_rounds():
            if isinstance(dispatch, SubWork):
                close()
                made.append(dispatch)
                continue
            devices = self.domain_of(dispatch) or open_devices or everybody
            if dispatch.device is not None and dispatch.device not in devices:
                devices = everybody
            if any(self.comes_after(dispatch, other) for other in open_list):
                close(Meeting())
            if devices != open_devices:
                close()
            open_devices = devices
            for other in open_list:
                self.require_apart(dispatch, other)
            open_list.append(dispatch)
        close()
        return made

    def in_rounds(self):
        """The dispatches, in an order in which the devices of a domain come together. Each device keeps its own: one that waits
        for a peer must not stand before what the peer has to do first."""
        made, part = [], []
        for dispatch in [*self.dispatches, None]:
            if dispatch is not None and not isinstance(dispatch, SubWork):
                part.append(dispatch)
                continue
            domains = {tuple(self.domain_of(d) or ()) for d in part} - {()}
            while part and len(domains) > 1:
                together = self.next_round(part)
                made += together
                part = [d for d in part if d not in together]
            made += [*part, dispatch] if dispatch is not None else part
            part = []
        return made

    def next_round(self, left):
        """Of those that nothing left must come before: one for each device of a domain, if all of its devices are so far."""
        heads = []
        for i, dispatch in enumerate(left):
            mine = self.devices_of(dispatch)
            if not any(mine & self.devices_of(e) or self.comes_after(dispatch, e) for e in left[:i]):
                heads.append(dispatch)
        for head in heads:
            domain = self.domain_of(head)
            if domain is None or head.device is None:
                return [head]
            members = [h for h in heads if self.domain_of(h) == domain]
            waiting = {d.device for d in left if self.domain_of(d) == domain and d.device is not None}
            if waiting <= {m.device for m in members}:
                return members
        return heads[:1]

    def devices_of(self, dispatch):
        return {dispatch.device} if dispatch.device is not None else set(self.domain_of(dispatch) or ())

    def comes_after(self, later, earlier):
        """Whether it begins when the other, of another device, is over: it reads memory of the host that the other writes. Else
        the devices of a domain go on beside each other, for one may wait for the other. Between domains all that is written
        keeps its order."""
        return any(
            x_writes and y_reads or not self.are_together(later, earlier)
            for _, x_writes, _, y_reads in self.shared(later, earlier)
        )

    def require_apart(self, later, earlier):
        """What goes on at once has memory of its own."""
        for y, x_writes, y_writes, _ in self.shared(later, earlier):
            who = "they write" if x_writes and y_writes else f"device {(earlier if x_writes else later).device} writes"
            words = f"devices {earlier.device} and {later.device} share '{y.name}', which {who}: pass {y.name}[r]"
            raise CompileError(words, later.span)

    def shared(self, later, earlier):
        """Memory of the host that two devices are given and one of them writes, and who writes and reads it."""
        if later.device is None or earlier.device is None or later.device == earlier.device:
            return
        for x, _, x_writes in self.uses(earlier):
            for y, y_reads, y_writes in self.uses(later):
                if (x_writes or y_writes) and x.meets(y):
                    yield y, x_writes, y_writes, y_reads

    def are_together(self, a, b):
        return self.domain_of(a) is not None and self.domain_of(a) == self.domain_of(b)

    def uses(self, dispatch):
        """Tensors of the host that a dispatch is given, whether it reads them, and whether it writes them."""
        if self.directions is None:
            self.directions = inferred(self.program)
        directions = self.directions[dispatch.function.name]
        given = [(a, d) for a, d in zip(dispatch.args, directions) if isinstance(a, HostTensor)]
        return [(a, d != ParamDirection.Out, d != ParamDirection.In) for a, d in given]

    def domain_of(self, dispatch):
        """The devices of its windows, and of those that other dispatches use together with them."""
        buffers = dispatch.buffers()
        return sorted(set().union(*(b.devices for b in self.companions(buffers[0])))) if buffers else None

    def companions(self, buffer):
        """All buffers that meet in dispatches, from one to the next."""
        if not self.groups:
            self.groups = {id(b): [b] for b in self.buffers}
            for dispatch in self.dispatches:
                met = {id(b): self.groups[id(b)] for b in dispatch.buffers()}
                joined = list({id(b): b for group in met.values() for b in group}.values())
                for b in joined:
                    self.groups[id(b)] = joined
        return self.groups[id(buffer)]

    def place_collectives(self):
        """Windows that only collectives use are where the others of the call are."""
        for call in self.dispatches:
            if not isinstance(call, Together):
                continue
            buffers = call.buffers()
            if len({id(b) for b in buffers}) != len(buffers):
                raise CompileError("target and signal must be different window allocations", call.span)
            devices = set().union(*(b.devices for b in buffers))
            for buffer in buffers:
                if not buffer.devices:
                    buffer.devices = set(devices)
                if buffer.devices != devices:
                    raise CompileError("the windows of a collective must be of one domain", call.span)

    def require_used(self):
        for buffer in self.buffers:
            require_domain(buffer.name, buffer.dtype is not None, bool(buffer.devices), buffer.span)

    # ---- statements

    def block(self, statements):
        for statement in statements:
            getattr(self, f"do_{type(statement).__name__}")(statement)

    def do_SeqStmts(self, statement):
        self.block(statement.stmts)

    def do_AssignStmt(self, statement):
        self.values[statement.var.name_hint] = self.value(statement.value, statement.var.name_hint)

    def do_EvalStmt(self, statement):
        self.value(statement.expr)

    def do_ReturnStmt(self, statement):
        for value in statement.value:
            self.value(value)

    def do_ForStmt(self, statement):
        if statement.iter_args:
            refuse("init_values are not supported in a HOST function", statement.span)
        bounds = [self.number(b) for b in (statement.start, statement.stop, statement.step)]
        self.loops += 1
        for i in range(*bounds):
            self.values[statement.loop_var.name_hint] = i
            self.block(statement.body.stmts)
        self.loops -= 1

    def do_IfStmt(self, statement):
        taken = statement.then_body if self.number(statement.condition) else statement.else_body
        if taken is not None:
            self.block(taken.stmts)

    # ---- values

    def number(self, expr):
        value = self.value(expr)
        if not isinstance(value, int):
            refuse("the host computes with integers only", expr.span)
        return value

    def value(self, expr, name=None):
        if isinstance(expr, nodes.DynVar):
            if expr.name_hint not in self.symbols:
                refuse(f"symbol '{expr}' is in no shape of the host's parameters", expr.span)
            return self.symbols[expr.name_hint]
        if isinstance(expr, nodes.Var):
            return self.values[expr.name_hint]
        if isinstance(expr, nodes.Call):
            if isinstance(expr.op, nodes.GlobalVar):
                return self.dispatch(expr)
            carry_out = OPS.get(expr.op.name)
            if carry_out is None:
                refuse(f"{nodes.spelled(expr.op.name)} is not supported in a HOST function", expr.span)
            return carry_out(self, expr, name)
        return fold(expr, self.value)

    def alloc(self, expr, name):
        buffer = Buffer(name, self.number(expr.args[0]), expr.span)
        self.buffers.append(buffer)
        return buffer

    def window(self, expr, _name):
        buffer = self.value(expr.args[0])
        shape = [self.number(d) for d in expr.args[1].elements]
        dtype = expr.kwargs["dtype"]
        if dtype.peal is None:
            refuse(f"windows of {dtype} are not supported", expr.span)
        if buffer.dtype not in (None, dtype):
            words = f"window buffer '{buffer.name}' is viewed as {buffer.dtype} and as {dtype}"
            self.retyped = self.retyped or CompileError(words, expr.span)
            return View(buffer, shape, dtype)
        needed, room = prod(shape) * dtype.get_byte(), -(-buffer.bytes // PADDING) * PADDING
        if needed > room:
            raise CompileError(
                f"a window of {shape} {dtype} needs {needed} bytes, buffer '{buffer.name}' has {buffer.bytes}: "
                "alloc_window_buffer takes bytes",
                expr.span,
            )
        buffer.dtype, buffer.elements = dtype, max(buffer.elements, prod(shape))
        return View(buffer, shape, dtype)

    def slice(self, expr, _name):
        base = self.value(expr.args[0])
        if not isinstance(base, HostTensor):
            refuse("only tensors are indexed in a HOST function", expr.span)
        offsets, extent = ([self.number(e) for e in operand.elements] for operand in expr.args[1:3])
        offset, is_part = base.offset, False
        for i, (first, count, size) in enumerate(zip(offsets, extent, base.shape)):
            if first < 0 or count < 0 or first + count > size:
                found = f"index {first} leaves" if count == 1 else f"elements {first}..{first + count} leave"
                raise CompileError(f"{found} dimension {i} of '{base.name}', which has {size}", expr.span)
            if is_part and count != size:
                refuse("a part with gaps between its rows cannot be handed out", expr.span)
            is_part = is_part or count != 1
            offset += first * prod(base.shape[i + 1 :])
        shape = [size for i, size in enumerate(extent) if i not in expr.kwargs["drop_dims"]]
        return HostTensor(base.index, base.name, offset, shape, base.dtype)

    def create(self, expr, name):
        shape, dtype = [self.number(d) for d in expr.args[0].elements], expr.type.dtype
        if dtype.peal is None:
            refuse(f"tensors of {dtype} are not supported", expr.span)
        self.created.append((shape, dtype, expr.kwargs.get("init_value", 0)))
        return HostTensor(self.given + len(self.created) - 1, name or "created", 0, shape, dtype)

    def round_robin(self):
        return sum(not isinstance(d, (Together, SubWork)) for d in self.dispatches) % self.world_size

    def collective(self, expr, _name):
        args = [self.value(a) for a in expr.args]
        if len(args) == 1 and expr.op.name == "pld.tensor.allreduce" and self.loops:
            raise CompileError("allreduce without an explicit signal is not supported inside a for/while", expr.span)
        if not all(isinstance(a, View) for a in args):
            raise CompileError("collectives of a HOST function work on windows: DistributedTensor", expr.span)
        if expr.kwargs.get("mode") == "ring":
            self.require_ring(args[0], expr.span)
        self.dispatches.append(Together(expr, args))
        return args[RESULT[expr.op.name]]

    def require_ring(self, target, span):
        if self.world_size > MOST_RING_RANKS:
            raise CompileError(f"a ring of the host takes 16 or fewer ranks, found {self.world_size}", span)
        if prod(target.shape) % self.world_size != 0:
            found = f"{prod(target.shape)} elements for {self.world_size} ranks"
            raise CompileError(f"the elements of a ring's target must be an exact multiple of the rank count: {found}", span)

    def dispatch(self, expr):
        for arg in expr.args:
            if isinstance(arg, nodes.Call) and OPS.get(arg.op.name) is HostRun.collective:
                raise CompileError(f"the value of {arg.op.name} must be a direct assignment: x = {arg.op.name}(...)", arg.span)
        function = self.program[expr.op.name]
        if function.is_host() or (function.body is None and not function.is_sub_worker()):
            refuse(f"self.{function.name}: only Orchestration functions, kernels and sub-workers can be dispatched", expr.span)
        args = [self.value(a) for a in expr.args]
        if function.is_sub_worker():
            if not all(isinstance(a, (HostTensor, int, float)) for a in args):
                refuse(f"self.{function.name}: a sub-worker gets tensors and numbers of the host", expr.span)
            self.dispatches.append(SubWork(function, args, expr.span))
            return None
        device = self.number(expr.attrs["device"]) if "device" in expr.attrs else self.round_robin()
        if not 0 <= device < self.world_size:
            raise CompileError(f"there is no device {device}: the call has {self.world_size}", expr.span)
        made = Dispatch(device, function, args, expr.span)
        for buffer in made.buffers():
            buffer.devices.add(device)
        self.dispatches.append(made)
        returned = [args[i] if i is not None else None for i in function.returned or []]
        return returned[0] if len(returned) == 1 else returned


OPS = {
    "pld.tensor.alloc_window_buffer": HostRun.alloc,
    "pld.tensor.window": HostRun.window,
    "pld.system.world_size": lambda run, expr, name: run.world_size,
    "tensor.slice": HostRun.slice,
    "tensor.create": HostRun.create,
    **{name: HostRun.collective for name in RESULT if name.startswith("pld.")},
}
