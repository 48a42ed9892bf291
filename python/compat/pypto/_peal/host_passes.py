# SPDX-License-Identifier: Apache-2.0
"""Collectives that a HOST function asks for, as dispatches of kernels that do them; and what can be wrong with its windows."""

from . import dtypes, nodes, ops_distributed, registry
from .arithmetic import CompileError, refuse
from .composites import COMPOSITES
from .enums import ForKind, FunctionType, Level, ParamDirection, Role
from .rewriting import Fresh, Rewriter, names_of
from .visiting import IRVisitor


def is_collective(expr):
    return isinstance(expr, nodes.Call) and expr.op.name in COMPOSITES


class SynthesizeAllreduceSignals(Rewriter):
    """An allreduce without a signal gets one of its own."""

    def function(self, function):
        if not function.is_host():
            return function
        self.fresh, self.before = Fresh(names_of(function)), []
        return super().function(function)

    def stmt(self, stmt):
        made = super().stmt(stmt)
        before, self.before = self.before, []
        return [*before, *made]

    def expr_call(self, call):
        made = self.below(call)
        if made.op.name != "pld.tensor.allreduce" or len(made.args) != 1:
            return made
        with registry.at(call.span), registry.inside(True):
            ranks = ops_distributed.world_size()
            buffer = self.assign("signal_buf", ops_distributed.alloc_window_buffer([ranks, 1], dtype=dtypes.INT32), call.span)
            signal = ops_distributed.window(buffer, [ranks, 1], dtype=dtypes.INT32)
            made.args = [*made.args, self.assign("signal", signal, call.span)]
        return made

    def assign(self, hint, value, span):
        var = nodes.Var(self.fresh(hint), value.type, span)
        self.before.append(nodes.AssignStmt(var, value, span))
        return var


class _Everybody(IRVisitor):
    """That windows are given to all devices of the call: a domain of some of them would become one of all."""

    def __init__(self):
        self.counters = set()

    def visit_for_stmt(self, stmt):
        stop = stmt.stop
        if registry.constant(stmt.start) == 0 and isinstance(stop, nodes.Call) and stop.op.name == "pld.system.world_size":
            self.counters.add(stmt.loop_var.name_hint)
        super().visit_for_stmt(stmt)

    def visit_call(self, call):
        super().visit_call(call)
        has_windows = any(isinstance(a.type, nodes.DistributedTensorType) for a in call.args)
        device = call.attrs.get("device")
        if isinstance(call.op, nodes.GlobalVar) and has_windows and getattr(device, "name_hint", None) not in self.counters:
            refuse("the pass takes dispatches to all devices: device=r in a loop over pl.range(pld.world_size())", call.span)


class LowerHostTensorCollectives(Rewriter):
    """A collective of the host is a kernel that every device of the call is given."""

    def program(self, program):
        self.made, self.fresh = {}, Fresh(g.name for g in program.functions)
        rewritten = [self.function(f) for f in program.functions.values()]
        added = [f for pair in self.made.values() for f in pair]
        hosts = [f for f in rewritten if f.is_host()]
        return nodes.Program(program.name, [f for f in rewritten if not f.is_host()] + added + hosts, program.span)

    def function(self, function):
        if not function.is_host():
            return function
        self.names = Fresh(names_of(function))
        _Everybody().visit_function(function)
        return super().function(function)

    def stmt_eval_stmt(self, stmt):
        if not is_collective(stmt.expr):
            return super().stmt_eval_stmt(stmt)
        return [self.dispatched(stmt.expr)]

    def stmt_assign_stmt(self, stmt):
        if not is_collective(stmt.value):
            return super().stmt_assign_stmt(stmt)
        result = stmt.value.args[registry.RESULT[stmt.value.op.name]]
        return [self.dispatched(stmt.value), nodes.AssignStmt(stmt.var, result, stmt.span)]

    def dispatched(self, call):
        if len(call.args) == 1 and call.op.name == "pld.tensor.allreduce":
            raise CompileError("allreduce has no signal: synthesize_allreduce_signals gives it one", call.span)
        key = variant_of(call), str([a.type for a in call.args])
        if key not in self.made:
            self.made[key] = self.kernel(call, key[0])
        chip = self.made[key][1]
        counter = nodes.Var(self.names("device"), nodes.ScalarType(dtypes.INDEX), call.span)
        called = nodes.Call(nodes.GlobalVar(chip.name), call.args, {}, None, call.span, {"device": counter})
        called.aliases = []
        zero, one = (nodes.ConstInt(n, dtypes.INDEX, call.span) for n in (0, 1))
        with registry.at(call.span), registry.inside(True):
            everybody = ops_distributed.world_size()
        body = nodes.SeqStmts([nodes.EvalStmt(called, call.span)], call.span)
        return nodes.ForStmt(counter, zero, everybody, one, [], body, [], ForKind.Sequential, call.span)

    def kernel(self, call, variant):
        """The kernel and the function that devices are given."""
        params = []
        for i, arg in enumerate(call.args):
            is_signal = i == len(call.args) - 1
            params.append(nodes.Var(f"operand_{i}", lanes(arg.type, call) if is_signal else arg.type, call.span))
            params[-1].alias = i
        inner = nodes.Call(call.op, params, call.kwargs, call.type, call.span)
        name = "builtin_tensor_" + variant.replace(".", "_")
        kernel = self.made_of(self.fresh(name), params, FunctionType.InCore, nodes.EvalStmt(inner, call.span), call)
        invoked = nodes.Call(nodes.GlobalVar(kernel.name), params, {}, None, call.span)
        invoked.aliases = []
        chip = self.made_of(self.fresh(f"{name}_chip"), params, FunctionType.Orchestration, nodes.EvalStmt(invoked, call.span), call)
        return kernel, chip

    def made_of(self, name, params, kind, stmt, call):
        level, role = (Level.CHIP, Role.Orchestrator) if kind == FunctionType.Orchestration else (Level.CHIP_DIE, Role.SubWorker)
        directions = [ParamDirection.InOut] * len(params)
        body = nodes.SeqStmts([stmt], call.span)
        made = nodes.Function(name, params, directions, [], body, kind, level, role, call.span)
        made.filename, made.returned = call.span.filename, []
        return made


def lanes(kind, call):
    """The signal as a kernel wants it: a lane for each rank."""
    shape = [registry.constant(d) for d in kind.shape]
    if call.kwargs.get("mode") == "ring":
        return nodes.DistributedTensorType([2 * (shape[1] - 1), shape[1]], kind.dtype)
    if shape[0] is None:
        if shape[1:] != [1]:
            raise CompileError("a signal whose size is not known has the shape [NR, 1]", call.span)
        return nodes.DistributedTensorType([nodes.DynVar("NR"), 1], kind.dtype)
    return nodes.DistributedTensorType([shape[0], 1], kind.dtype)


def variant_of(call):
    """The name under which its directory stands."""
    kind = call.op.name.split(".")[-1]
    if call.kwargs.get("mode") == "ring":
        kind += "_ring"
    words = [kind]
    if "op" in call.kwargs:
        words.append(call.kwargs["op"].name.lower())
    if "root" in call.kwargs:
        words.append(f"root{call.kwargs['root']}")
    dtype = call.args[0].type.dtype if kind != "barrier" else dtypes.FP32
    return "__".join([*words, str(dtype)])


class WindowUses(IRVisitor):
    """What becomes of the window buffers of a HOST function."""

    def __init__(self):
        self.buffers, self.views, self.viewed, self.used = {}, {}, set(), set()

    def buffer_of(self, value):
        """The buffer that a value is a view of, or None."""
        if isinstance(value, nodes.Call) and value.op.name == "pld.tensor.window":
            return getattr(value.args[0], "name_hint", None)
        if is_collective(value):
            return self.buffer_of(value.args[registry.RESULT[value.op.name]])
        return self.views.get(value.name_hint) if isinstance(value, nodes.Var) else None

    def visit_assign_stmt(self, stmt):
        super().visit_assign_stmt(stmt)
        name, value = stmt.var.name_hint, stmt.value
        if isinstance(value, nodes.Call) and value.op.name == "pld.tensor.alloc_window_buffer":
            self.buffers[name] = value.span
        elif self.buffer_of(value) is not None:
            self.views[name] = self.buffer_of(value)

    def visit_for_stmt(self, stmt):
        before = set(self.used)
        super().visit_for_stmt(stmt)
        if registry.constant(stmt.step) != 1 and self.used != before:
            raise CompileError("a dispatch of windows in a non-unit-step loop is not supported", stmt.span)

    def visit_call(self, call):
        super().visit_call(call)
        if call.op.name == "pld.tensor.window":
            self.viewed.add(self.buffer_of(call))
        if isinstance(call.op, nodes.GlobalVar) or call.op.name in COMPOSITES:
            self.used |= {self.buffer_of(a) for a in call.args} - {None}


def checked_domains(program):
    """The program, if every window buffer of its HOST function belongs to a domain."""
    for function in program.host():
        uses = WindowUses()
        uses.visit_function(function)
        for name, span in uses.buffers.items():
            require_domain(name, name in uses.viewed, name in uses.used, span)
    return program


def require_domain(name, is_viewed, is_used, span):
    if not is_viewed:
        raise CompileError(f"window buffer '{name}' is never viewed with pld.window", span)
    if not is_used:
        raise CompileError(f"window buffer '{name}' is not consumed by any chip_orch dispatch", span)


MOST_CORES = {"a5": 36, "a5sim": 36}  # vector cores of a device, where there are fewer than elsewhere


class _Cores(IRVisitor):
    def __init__(self, platform):
        self.platform, self.most = platform, MOST_CORES[platform]

    def visit_call(self, call):
        found = getattr(call, "cores", 1)
        if found > self.most:
            raise CompileError(f"core_num must be in 1..{self.most} on {self.platform}, found {found}", call.span)
        super().visit_call(call)


def require_cores(program, platform):
    """No collective is on more cores than the platform's devices have."""
    if platform in MOST_CORES:
        _Cores(platform).visit_program(program)
