# SPDX-License-Identifier: Apache-2.0
"""A stage as one kernel of Peal. Functions are written out where they are called, names become values that are defined once,
and every node keeps its place in the user's file. Sizes and the number of ranks are known; `rank` is not."""

from math import prod

from peal._peal import ir

from . import dtypes, nodes
from .arithmetic import CompileError, refuse, solve
from .emitting import Emitter
from .liveness import assigned, live_before
from .values import Context, Memory, Several, Tile, same


class Param:
    """Memory of the kernel, or a table with one number for each rank."""

    def __init__(self, name, type, direction, kind, source):
        self.name, self.var = name, ir.variable(name, type)
        self.direction, self.kind, self.source = direction, kind, source
        self.read_at = self.written_at = self.signal_at = None  # where it is first used as data, and as signals
        self.members = None  # of a window that some ranks have: who they are
        self.is_used = kind != "window" or source is None  # a buffer's window: once something is done with it


class Lowering(Emitter):
    def __init__(self, program, stage, directions, mirrored):
        self.program, self.stage, self.directions = program, stage, directions
        self.mirrored = mirrored  # windows whose cells are memory, too
        super().__init__(len(stage.devices))
        self.params, self.calling = [], []
        self.tensors, self.windows, self.collective_cells = {}, {}, {}
        self.tables, self.mirrors, self.stages = {}, {}, {}
        for buffer in stage.buffers():
            param = self.window_param(buffer.name, buffer.dtype, buffer.elements, buffer)
            self.windows[id(buffer)] = param
            if buffer.devices != set(stage.devices):
                param.members = [stage.devices.index(d) for d in sorted(buffer.devices)]
        self.names.taken |= stage.reserved

    def lower(self):
        self.name = self.fresh(self.program.name)
        self.body = []
        for step in self.stage.steps:
            self.step(step, self.body)

    def kernel(self, filename, text):
        name, body = self.name, self.body
        self.params = [p for p in self.params if p.is_used]
        params = [(p.var, p.direction) for p in self.params]
        made = ir.program(name, params, body, self.stage.steps[0].span.at(), filename, text)
        return name, made

    # ---- parameters

    def window_param(self, hint, dtype, elements, source):
        kind = ir.memory_type("window", dtype.peal, [ir.integer(elements)])
        param = Param(self.fresh(hint), kind, "", "window", source)
        param.elements, param.dtype = elements, dtype
        self.params.append(param)
        return param

    def cells_of(self, memory):
        """The cells that the collectives on a signal use: its own stay as they are, zero."""
        key = id(memory.param) if memory is not None else None
        if key not in self.collective_cells:
            hint = f"{memory.param.source.name}_cells" if memory is not None else "cells"
            self.collective_cells[key] = self.window_param(hint, dtypes.INT32, self.nranks, None)
        return self.collective_cells[key].var

    def values_of(self, param):
        """The window beside a signal that holds what its cells hold."""
        if param.name not in self.mirrors:
            self.mirrors[param.name] = self.window_param(f"{param.name}_values", param.dtype, param.elements, None)
        return self.mirrors[param.name]

    def staging(self, dtype, shape, span):
        """Memory of the rank's own, with room for a tile of this shape."""
        if not all(isinstance(size, int) for size in shape):
            refuse("a tile with gaps between its rows needs a shape that is known; valid_shape may be smaller", span)
        key = (dtype, prod(shape))
        if key not in self.stages:
            self.stages[key] = self.window_param(f"stage_{dtype.peal}_{prod(shape)}", dtype, prod(shape), None)
        return self.stages[key].var

    def tensor(self, parts, span):
        """One argument of each rank, as a parameter. Ranks that are given theirs one by one share it, too."""
        first = next(p for p in parts if p is not None)
        elements = prod(first.shape)
        if any(p is not None and prod(p.shape) != elements for p in parts):
            refuse("ranks get tensors of different sizes, which is not supported", span)
        if first.dtype.peal is None:
            refuse(f"tensors of {first.dtype} are not supported", span)
        key = (first.index, elements)
        for param in self.tensors.setdefault(key, []):
            if all(a is None or b is None or a.offset == b.offset for a, b in zip(param.source, parts)):
                param.source = [a or b for a, b in zip(param.source, parts)]
                break
        else:
            kind = ir.memory_type("tensor", first.dtype.peal, [ir.integer(elements)])
            param = Param(self.fresh(first.name), kind, self.directions[first.index], "tensor", parts)
            param.elements, param.dtype = elements, first.dtype
            self.tensors[key].append(param)
            self.params.append(param)
        return Memory(param, 0, list(first.shape), first.dtype)

    def created(self, shape, dtype, span):
        """Memory of each rank that nobody else sees."""
        if not all(isinstance(size, int) for size in shape) or dtype.peal is None:
            refuse(f"a tensor of {shape} {dtype} cannot be created here", span)
        kind = ir.memory_type("tensor", dtype.peal, [ir.integer(prod(shape))])
        param = Param(self.fresh("created"), kind, "inout", "tensor", [None] * self.nranks)
        param.elements, param.dtype = prod(shape), dtype
        self.params.append(param)
        return Memory(param, 0, list(shape), dtype)

    def argument(self, parts, members, span):
        """What a parameter of a dispatched function is, from what each member passes."""
        if isinstance(parts[0], (int, float)):
            return self.number_of(parts, members)
        if parts[0] is None or isinstance(parts[0], list):
            refuse("this value has no memory", span)
        if parts[0].is_window:
            view = parts[0]
            return Memory(self.windows[id(view.buffer)], 0, list(view.shape), view.dtype)
        by_rank = [None] * self.nranks
        for rank, part in zip(members, parts):
            by_rank[rank] = part
        return self.tensor(by_rank, span)

    def number_of(self, parts, members):
        if len(set(parts)) == 1:
            return parts[0] if isinstance(parts[0], float) else int(parts[0])
        if list(parts) == list(members):
            return ir.rank()
        return self.looked_up(parts, ir.rank())

    def looked_up(self, numbers, place):
        """One of several numbers that are known."""
        key = tuple(numbers)
        if key not in self.tables:
            kind = ir.memory_type("table", "i64", [ir.integer(len(key))])
            param = Param(self.fresh("given"), kind, "", "table", list(key))
            self.tables[key] = param
            self.params.append(param)
        return ir.table_at(self.tables[key].var, [place])

    # ---- steps

    def step(self, step, body):
        everybody = len(step.members) == self.nranks
        with self.into(body if everybody else []) as inside:
            args = [self.argument(parts, step.members, step.span) for parts in step.args]
            if step.expr is None:
                self.call_function(step.function, args, step.span)
            else:
                self.call_collective(step.expr, args)
        if not everybody:
            condition = ir.binary("==", ir.rank(), ir.integer(step.members[0]), step.span.at())
            body.append(ir.if_else(condition, [], inside, [], [], [], step.span.at()))

    def call_collective(self, expr, args):
        """One that the host asks for, on these windows."""
        names = [nodes.Var(f"operand {i}", a.type, a.span) for i, a in enumerate(expr.args)]
        self.values = {name.name_hint: arg for name, arg in zip(names, args)}
        self.call(nodes.Call(expr.op, names, expr.kwargs, expr.type, expr.span))

    def call_function(self, function, args, span):
        """The values that it returns."""
        if function in self.calling:
            raise CompileError(f"{function.name} calls itself: functions are written out where they are called", span)
        symbols, values = {}, {}
        for param, arg in zip(function.params, args):
            if isinstance(arg, Memory):
                solve(param, arg.shape, symbols)
        outer, self.values = self.values, values
        outer_symbols, self.symbols = self.symbols, symbols
        outer_returned, self.returned = self.returned, None
        for param, arg in zip(function.params, args):
            values[param.name_hint] = self.passed(param, arg, span)
        self.calling.append(function)
        self.block(function.body.stmts, set())
        self.calling.pop()
        returned = self.returned or []
        self.values, self.symbols, self.returned = outer, outer_symbols, outer_returned
        return returned

    def passed(self, param, arg, span):
        """The callee's declared shape rules."""
        if not isinstance(param.type, nodes.TensorType):
            if isinstance(arg, Memory):
                refuse(f"parameter '{param}' is a scalar", span)
            return arg
        if not isinstance(arg, Memory):
            refuse(f"parameter '{param}' is memory", span)
        shape = [self.integer(d) for d in param.type.shape]
        if not all(isinstance(d, int) for d in shape):
            refuse(f"the shape of parameter '{param}' is not known", span)
        if param.type.dtype != arg.dtype:
            raise CompileError(f"parameter '{param}' is {param.type.dtype}, its argument {arg.dtype}", span)
        if prod(shape) > prod(arg.shape):
            raise CompileError(f"parameter '{param}' has shape {shape}, its argument {arg.shape}", span)
        if shape == list(arg.shape):
            return arg
        if not arg.is_dense():
            refuse(f"parameter '{param}' has shape {shape}, its argument is a part with gaps of shape {arg.shape}", span)
        return Memory(arg.param, arg.offset, shape, arg.dtype)

    # ---- statements

    def block(self, statements, after):
        """Statements in order; `after` are the names that matter behind them."""
        for i, statement in enumerate(statements):
            rest = statements[i + 1 :]
            if isinstance(statement, nodes.IfStmt) and returns(statement):
                self.do_IfStmt(continued(statement, rest), after)
                return
            getattr(self, f"do_{type(statement).__name__}")(statement, live_before(rest, after))

    def do_SeqStmts(self, statement, after):
        self.block(statement.stmts, after)

    def do_AssignStmt(self, statement, after):
        name = statement.var.name_hint
        self.values[name] = self.named(name, self.value(statement.value), statement.span)

    def do_EvalStmt(self, statement, after):
        self.value(statement.expr)

    def do_ReturnStmt(self, statement, after):
        if self.loops:
            refuse("a return inside a loop is not supported", statement.span)
        values = []
        for value in statement.value:
            found = self.value(value)
            values.extend(found.items if isinstance(found, Several) else [found])
        self.returned = values

    def do_YieldStmt(self, statement, after):
        self.yielded = [self.value(v) for v in statement.value]

    # ---- conditions

    def do_IfStmt(self, statement, after):
        condition = self.value(statement.condition)
        if isinstance(condition, bool):
            taken = statement.then_body if condition else statement.else_body
            self.yielded = None
            self.block(taken.stmts if taken else [], after)
            for var, value in zip(statement.return_vars, self.yielded or []):
                self.values[var.name_hint] = value
            return
        if isinstance(condition, (Tile, Memory)):
            self.refuse_data(condition, statement.condition.span)
        before, outer_returned = dict(self.values), self.returned
        sides = []
        for body in (statement.then_body, statement.else_body):
            self.values, self.yielded, self.returned = dict(before), None, outer_returned
            with self.into([]) as made:
                self.block(body.stmts if body else [], after)
            for var, value in zip(statement.return_vars, self.yielded or []):
                self.values[var.name_hint] = value
            sides.append((made, self.values, self.returned))
        (then, then_values, then_returned), (other, other_values, other_returned) = sides
        self.values = before
        results, yields = self.merge(statement, after, then_values, other_values)
        self.returned = merged_returns(then_returned, other_returned, statement.span)
        self.emit(
            ir.if_else(condition, results, then, [y[0] for y in yields], other, [y[1] for y in yields], statement.span.at())
        )

    def merge(self, statement, after, then_values, other_values):
        """Names that the sides give different values, and that matter afterwards."""
        results, yields = [], []
        names = {v.name_hint for v in statement.return_vars} | assigned([statement])
        for name in sorted(names):
            a, b = then_values.get(name), other_values.get(name)
            if a is None or b is None:
                self.values.pop(name, None)
                continue
            if same(a, b):
                self.values[name] = a
                continue
            if name not in after:
                self.values.pop(name, None)
                continue
            self.require_alike(name, a, b, statement.span)
            var = ir.variable(self.fresh(name), ir.type_of(self.expression(a)))
            results.append(var)
            yields.append((self.expression(a), self.expression(b)))
            self.values[name] = a.replaced(var) if isinstance(a, Tile) else var
        return results, yields

    def require_alike(self, name, a, b, span):
        if isinstance(a, Memory) or isinstance(b, Memory):
            refuse(f"'{name}' is other memory in each branch or round, which is not supported", span)
        if isinstance(a, Tile) != isinstance(b, Tile):
            refuse(f"'{name}' is a tile in one branch or round and a number in another", span)
        if isinstance(a, Tile) and (a.valid != b.valid or a.dtype != b.dtype):
            refuse(f"'{name}' is a tile of {a.valid} in one branch or round and of {b.valid} in another", span)

    # ---- loops

    def do_ForStmt(self, statement, after):
        start, stop = (self.whole(e, "a bound of a loop") for e in (statement.start, statement.stop))
        step = self.whole(statement.step, "the step of a loop")
        if not isinstance(step, int) or step <= 0:
            raise CompileError("the step of a loop must be a positive number that is known when the plan is made", statement.span)
        # Peal counts by one.
        hi = stop if step == 1 else self.floor_div(self.add(self.sub(stop, start), step - 1), step)
        lo = start if step == 1 else 0
        names = self.carried_names(statement, after)
        saved = (dict(self.values), set(self.names.taken))
        fresh = [n for n in names if n not in self.values]
        if fresh:  # what is first defined inside needs a value for no rounds at all: learn its type
            with self.into([]):
                self.round(statement, lo, hi, start, step, {}, after)
                found = {n: self.values.get(n) for n in fresh}
            self.values = saved[0]
            self.names.taken = saved[1] | {p.name for p in self.params}  # memory that was made stays
            for name in fresh:
                if isinstance(found[name], (Memory, Context)) or found[name] is None:
                    names.remove(name)
                    if found[name] is not None:
                        self.values[name] = found[name]
                else:
                    self.values[name] = self.zero_like(found[name], statement.span)
        self.emit_loop(statement, lo, hi, start, step, names, after)

    def carried_names(self, statement, after):
        """Implicitly: what a round leaves for the next, or for what comes behind the loop."""
        body = statement.body.stmts
        own = {statement.loop_var.name_hint} | {a.name_hint for a in statement.iter_args}
        own |= {v.name_hint for v in statement.return_vars}
        matters = live_before(body, after) | after
        candidates = (assigned(body) - own) & matters
        return [n for n in sorted(candidates) if not isinstance(self.values.get(n), (Memory, Context))]

    def emit_loop(self, statement, lo, hi, start, step, names, after):
        before = dict(self.values)
        explicit = {a.name_hint: self.value(a.init_value) for a in statement.iter_args}
        carried = []  # name inside, name outside, initial value
        for argument, var in zip(statement.iter_args, statement.return_vars):
            carried.append((argument.name_hint, var.name_hint, explicit[argument.name_hint]))
        carried += [(n, n, before[n]) for n in names]
        moving = [c for c in carried if not isinstance(c[2], (Memory, Context))]
        inner = {}
        made = []
        for name, _, init in moving:
            kind = ir.type_of(self.expression(init))
            made.append((ir.variable(self.fresh(name), kind), self.expression(init), ir.variable(self.fresh(name), kind)))
            inner[name] = init.replaced(made[-1][0]) if isinstance(init, Tile) else made[-1][0]
        for name, _, init in carried:
            inner.setdefault(name, init)
        with self.into([]) as body:
            counter, ends = self.round(statement, lo, hi, start, step, inner, after)
        inside = self.values
        yields = []
        for name, outside, init in moving:
            end = ends.get(name, inside.get(name))
            self.require_alike(outside, init, end, statement.span)
            yields.append(self.expression(end))
        for name, outside, init in carried:
            if isinstance(init, (Memory, Context)) and not same(init, ends.get(name, inside.get(name))):
                refuse(f"'{outside}' is other memory in each round, which is not supported", statement.span)
        self.emit(
            ir.for_loop(counter, self.expression(lo), self.expression(hi), made, body, yields, statement.span.at())
        )
        self.values = self.after_loop(before, inside, statement)
        for (_, outside, init), (_, _, result) in zip(moving, made):
            self.values[outside] = init.replaced(result) if isinstance(init, Tile) else result
        for name, outside, init in carried:
            if isinstance(init, (Memory, Context)):
                self.values[outside] = init

    def round(self, statement, lo, hi, start, step, inner, after):
        """One round of the body: its counter, and what it yields by name."""
        name = statement.loop_var.name_hint
        counter = ir.variable(self.fresh(name if name != "_" else "round"), ir.index_type())
        self.values = {**self.values, **inner}
        self.values[name] = counter if step == 1 else self.add(start, self.mul(counter, step))
        outer_yield, self.yielded = self.yielded, None
        self.loops += 1
        body = statement.body.stmts
        self.block(body, after | live_before(body, after))
        self.loops -= 1
        ends = {a.name_hint: v for a, v in zip(statement.iter_args, self.yielded or [])}
        self.yielded = outer_yield
        return counter, ends

    def after_loop(self, before, inside, statement):
        """Names of values that belong to a round are gone; memory has the name that it has."""
        after = dict(before)
        for name in assigned(statement.body.stmts):
            if isinstance(inside.get(name), (Memory, Context)) and name not in before:
                after[name] = inside[name]
        return after


def returns(statement):
    """Whether a side of a condition ends the function."""
    sides = [statement.then_body, statement.else_body]
    return any(s and s.stmts and isinstance(s.stmts[-1], nodes.ReturnStmt) for s in sides)


def continued(statement, rest):
    """The rest of the function, on the side that goes on."""
    then, other = statement.then_body.stmts, statement.else_body.stmts if statement.else_body else []
    if then and isinstance(then[-1], nodes.ReturnStmt):
        other = [*other, *rest] if not (other and isinstance(other[-1], nodes.ReturnStmt)) else other
    else:
        then = [*then, *rest]
    return nodes.IfStmt(statement.condition, nodes.SeqStmts(then), nodes.SeqStmts(other), [], statement.span)


def merged_returns(a, b, span):
    if a is None or b is None:
        return a or b
    same_values = len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if not same_values:
        refuse("the branches return different values, which is not supported", span)
    return a


def lowered(program, stages, directions):
    """The stages of a call, as kernels. A signal of a domain that some stage also reads or writes as data has a mirror in all."""
    mirrored = {}
    while True:
        made = [Lowering(program, s, directions, mirrored.get(tuple(s.devices), frozenset())) for s in stages]
        signals, data = {}, {}
        for stage, lowering in zip(stages, made):
            lowering.lower()
            key = tuple(stage.devices)
            signals.setdefault(key, set()).update(p.name for p in lowering.params if p.signal_at)
            data.setdefault(key, set()).update(p.name for p in lowering.params if p.read_at or p.written_at)
        found = {key: frozenset(signals[key] & data[key]) for key in signals}
        if all(names <= mirrored.get(key, frozenset()) for key, names in found.items()):
            return made
        mirrored = {key: names | mirrored.get(key, frozenset()) for key, names in found.items()}
