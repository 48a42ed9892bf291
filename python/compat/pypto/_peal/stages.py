# SPDX-License-Identifier: Apache-2.0
"""The host's function, carried out for one call: which device runs what, on which memory.

What comes out is a list of stages. A stage is what the devices of one domain do one after another, with nothing of another
domain in between; it becomes one kernel of Peal, so that everything that its dispatches do together is proved together.
"""

from math import prod

from . import nodes
from .arithmetic import CompileError, fold, refuse, solve
from .registry import RESULT


class HostTensor:
    """A part of an argument of the call: elements from `offset` on."""

    is_window = False

    def __init__(self, index, name, offset, shape, dtype):
        self.index, self.name, self.offset, self.shape, self.dtype = index, name, offset, shape, dtype

    def key(self):
        return (self.index, self.offset, tuple(self.shape))


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


class Step:
    """One position in the order of a stage: the same function on these members, or on one of them."""

    def __init__(self, dispatches, members):
        self.function, self.span = dispatches[0].function, dispatches[0].span
        self.expr = getattr(dispatches[0], "expr", None)  # of a collective
        self.members = members  # ranks in the domain, by dispatch
        self.args = list(zip(*(d.args for d in dispatches)))  # by parameter, then by member


class Stage:
    def __init__(self, devices, dispatches):
        self.devices = devices
        self.dispatches = dispatches
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
    """Whether two dispatches are parts of one: the same function on the same windows."""
    if a.function is None or b.function is None:
        return a is b
    return a.function is b.function and all(
        x.key() == y.key() for x, y in zip(a.args, b.args) if isinstance(x, View) or isinstance(y, View)
    )


class HostRun:
    """Carries out the statements of the host's function. Nothing is computed here but indices and sizes."""

    def __init__(self, program, function, world_size, shapes, scalars):
        self.program, self.function, self.world_size = program, function, world_size
        self.values, self.buffers, self.dispatches = {}, [], []
        self.symbols, self.loops = {}, 0
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
        self.block(self.function.body.stmts)
        self.place_collectives()
        self.require_used()
        everybody = list(range(self.world_size))
        made, open_devices, open_list = [], None, []
        for dispatch in self.dispatches:
            devices = self.domain_of(dispatch) or open_devices or everybody
            if dispatch.device is not None and dispatch.device not in devices:
                devices = everybody
            if devices != open_devices and open_list:
                made.append(Stage(open_devices, open_list))
                open_list = []
            open_devices = devices
            open_list.append(dispatch)
        if open_list:
            made.append(Stage(open_devices, open_list))
        return made

    def domain_of(self, dispatch):
        found = {tuple(sorted(b.devices)) for b in dispatch.buffers()}
        if len(found) > 1:
            refuse("a dispatch uses windows of two domains, which is not supported", dispatch.span)
        return list(found.pop()) if found else None

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
            if buffer.dtype is None:
                refuse(f"window buffer '{buffer.name}' is never viewed with pld.window", buffer.span)
            if not buffer.devices:
                refuse(f"window buffer '{buffer.name}' is not consumed by any chip_orch dispatch", buffer.span)

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
            refuse(f"window buffer '{buffer.name}' is viewed as {buffer.dtype} and as {dtype}", expr.span)
        needed = prod(shape) * dtype.get_byte()
        if needed > buffer.bytes:
            raise CompileError(
                f"a window of {shape} {dtype} needs {needed} bytes, buffer '{buffer.name}' has {buffer.bytes}: "
                "alloc_window_buffer takes bytes",
                expr.span,
            )
        buffer.dtype, buffer.elements = dtype, max(buffer.elements, prod(shape))
        return View(buffer, shape, dtype)

    def slice(self, expr, _name):
        base = self.value(expr.args[0])
        indices = [self.number(i) for i in expr.args[1].elements]
        if not isinstance(base, HostTensor):
            refuse("only tensors are indexed in a HOST function", expr.span)
        offset, rest = base.offset, base.shape[len(indices) :]
        for i, (index, size) in enumerate(zip(indices, base.shape)):
            if not 0 <= index < size:
                raise CompileError(f"index {index} leaves dimension {i} of '{base.name}', which has {size}", expr.span)
            offset += index * prod(base.shape[i + 1 :])
        return HostTensor(base.index, base.name, offset, rest, base.dtype)

    def round_robin(self):
        return sum(not isinstance(d, Together) for d in self.dispatches) % self.world_size

    def collective(self, expr, _name):
        args = [self.value(a) for a in expr.args]
        if len(args) == 1 and expr.op.name == "pld.tensor.allreduce" and self.loops:
            raise CompileError("allreduce without an explicit signal is not supported inside a for/while", expr.span)
        if not all(isinstance(a, View) for a in args):
            raise CompileError("collectives of a HOST function work on windows: DistributedTensor", expr.span)
        self.dispatches.append(Together(expr, args))
        return args[RESULT[expr.op.name]]

    def dispatch(self, expr):
        function = self.program[expr.op.name]
        if function.is_host() or function.body is None or function.requires_runtime_binding:
            refuse(f"self.{function.name}: only Orchestration functions and kernels can be dispatched", expr.span)
        args = [self.value(a) for a in expr.args]
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
    **{name: HostRun.collective for name in RESULT if name.startswith("pld.")},
}
