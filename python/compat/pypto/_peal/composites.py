# SPDX-License-Identifier: Apache-2.0
"""Collectives of a kernel written out, as Peal lowers them: the recipe is built and lowered by Peal, and what comes out is put
into the words of the language. Nothing of a protocol is written here.

A signal then holds what the recipe leaves in it. A variable counts its generations from the zeros that a call begins with, so a
signal that several kernels of one call give to collectives must be lowered in none or in one of them."""

from peal._peal import ir, lowered_tree

from . import dtypes, nodes, ops_distributed, ops_local, registry
from .arithmetic import CompileError
from .emitting import Emitter
from .enums import ForKind, NotifyOp, WaitCmp
from .lowering import Param
from .ops_local import wider
from .rewriting import Fresh, Rewriter, names_of
from .values import Memory

COMPOSITES = [name for name in registry.RESULT if name.startswith("pld.tensor.")]
SYMBOLS = {made.peal: made for made in nodes.BINARY.values()}
TILE_OPS = {
    "tile.add": ops_local.add,
    "tile.mul": ops_local.mul,
    "tile.max": ops_local.maximum,
    "tile.min": ops_local.minimum,
}
ANY_NUMBER = 1 << 30  # of ranks, where it is not known


class Recipe(Emitter):
    """One collective as a kernel of Peal, by the code that runs it."""

    def __init__(self, call):
        super().__init__(ranks_of(call))
        self.call_node, self.params, self.mirrored = call, [], frozenset()
        self.operands = [self.param(i, arg) for i, arg in enumerate(call.args)]
        for name, memory in zip(self.operand_names(), self.operands):
            self.values[name] = memory

    def operand_names(self):
        return [f"operand_{i}" for i in range(len(self.call_node.args))]

    def param(self, i, arg):
        shape = [registry.constant(d) for d in arg.type.shape]
        is_signal = arg.type.dtype == dtypes.INT32
        if None in shape:
            if not is_signal:
                raise CompileError(f"the pass needs a static shape, found {arg.type}", self.call_node.span)
            shape = [max(self.nranks, 1), 1]
        is_window = isinstance(arg.type, nodes.DistributedTensorType)
        elements = 1
        for size in shape:
            elements *= size
        kind = ir.memory_type("window" if is_window else "tensor", arg.type.dtype.peal, [ir.integer(max(elements, 1))])
        made = Param(self.fresh(f"operand_{i}"), kind, "" if is_window else "in", "window" if is_window else "tensor", None)
        made.elements, made.dtype = elements, arg.type.dtype
        self.params.append(made)
        return Memory(made, 0, shape, arg.type.dtype)

    def cells_of(self, memory):
        return memory.var

    def rows(self, memory, span):
        return memory.shape[1]

    def body(self):
        call = self.call_node
        operands = [nodes.Var(name, arg.type, arg.span) for name, arg in zip(self.operand_names(), call.args)]
        with self.into([]) as made:
            self.call(nodes.Call(call.op, operands, call.kwargs, call.type, call.span))
        params = [(p.var, p.direction) for p in self.params]
        program = ir.program("recipe", params, made, call.span.at(), call.span.filename, "")
        [kernel] = lowered_tree(program)
        return kernel["body"]


def ranks_of(call):
    """As many as the signal has lanes, where that is known."""
    shape = call.args[signal_at(call)].type.shape
    known = registry.constant(shape[1] if call.kwargs.get("mode") == "ring" else shape[0])
    return ANY_NUMBER if known is None else known


def signal_at(call):
    return 0 if call.op.name == "pld.tensor.barrier" else 2 if len(call.args) > 2 else 1


class Words:
    """What Peal lowered, in the words of the language."""

    def __init__(self, call, fresh, generation):
        self.call, self.fresh, self.generation, self.known = call, fresh, generation, {}
        self.made = []
        self.signal = call.args[signal_at(call)]
        anchor = self.signal if signal_at(call) == 0 else call.args[registry.RESULT[call.op.name]]
        context = self.assign("ctx", ops_distributed.get_comm_ctx(anchor))
        self.rank = self.assign("my_rank", ops_distributed.rank(context))
        self.nranks = self.assign("nranks", ops_distributed.nranks(context))
        for i, arg in enumerate(call.args):
            self.known[f"operand_{i}"] = arg if arg is self.signal else self.flat(arg)

    def flat(self, arg):
        """Memory as one row: recipes count its elements."""
        if not isinstance(arg.type, nodes.TensorType) or (len(arg.type.shape) == 2 and registry.constant(arg.type.shape[0]) == 1):
            return arg
        elements = 1
        for dim in arg.type.shape:
            elements *= registry.constant(dim)
        return self.assign(f"{arg}_flat", ops_local.reshape(arg, [1, elements]))

    def assign(self, hint, value):
        var = nodes.Var(self.fresh(hint), value.type, self.call.span)
        var.alias = registry.alias_of(value)
        self.made.append(nodes.AssignStmt(var, value, self.call.span))
        return var

    # ---- expressions

    def expr(self, tree):
        return getattr(self, f"expr_{tree['node']}")(tree)

    def expr_int(self, tree):
        return nodes.ConstInt(tree["value"], dtypes.INDEX, self.call.span)

    def expr_var(self, tree):
        return self.known[tree["name"]]

    def expr_binary(self, tree):
        left, right = self.expr(tree["lhs"]), self.expr(tree["rhs"])
        made = SYMBOLS[tree["op"]]
        dtype = dtypes.BOOL if made.compares else wider(left.type.dtype, right.type.dtype)
        return made(left, right, dtype, self.call.span)

    def expr_call(self, tree):
        op, operands = tree["op"], tree["operands"]
        if op == "pld.system.rank":
            return self.rank
        if op == "pld.system.nranks":
            return self.nranks
        if op == "pld.system.generation":
            return self.generation
        values = [self.expr(o) for o in operands]
        if op in TILE_OPS:
            return TILE_OPS[op](*values)
        if op == "tile.load":
            memory, offset, count = values
            if isinstance(memory.type, nodes.TileType):
                return memory
            return ops_local.load(memory, [0, offset], [1, count])
        if op == "pld.tile.remote_load":
            memory, peer, offset, count = values
            return ops_distributed.remote_load(memory, peer, [0, offset], [1, count])
        if op == "tile.slice":
            tile, offset, count = values
            return ops_local.tile_slice(tile, [1, count], [0, offset])
        raise CompileError(f"{op} has no word in the language", self.call.span)

    # ---- statements

    def block(self, tree, names=()):
        """The statements of a block; what it yields comes last."""
        outer, self.made = self.made, []
        for stmt in tree["stmts"]:
            getattr(self, f"stmt_{stmt['node']}")(stmt)
        if names:
            self.made.append(nodes.YieldStmt([self.expr(y) for y in tree["yields"]], self.call.span))
        made, self.made = self.made, outer
        return nodes.SeqStmts(made, self.call.span)

    def stmt_let(self, stmt):
        self.known[stmt["var"]["name"]] = self.assign(stmt["var"]["name"], self.expr(stmt["value"]))

    def stmt_eval(self, stmt):
        call = stmt["call"]
        op = call["op"]
        if op == "pld.system.require":  # of sizes: true, or the recipe could not have been built
            return
        values = [self.expr(o) for o in call["operands"]]
        words = dict(call["attributes"])
        if op == "pld.system.advance":
            further = nodes.Add(self.generation, values[1], dtypes.INDEX, self.call.span)
            self.made.append(nodes.AssignStmt(self.generation, further, self.call.span))
            return
        self.made.append(nodes.EvalStmt(self.effect(op, values, words), self.call.span))

    def effect(self, op, values, words):
        if op == "pld.system.notify":
            signal, peer, cell, value = values
            word = NotifyOp.Set if words["op"] == "set" else NotifyOp.AtomicAdd
            return ops_distributed.notify(signal, peer, self.cell(cell), value, op=word)
        if op == "pld.system.wait":
            signal, cell, value = values
            word = WaitCmp.Eq if words["cmp"] == "eq" else WaitCmp.Ge
            return ops_distributed.wait(signal, self.cell(cell), value, cmp=word)
        if op == "tile.store":
            tile, memory, offset = values
            return ops_local.store(tile, [0, offset], memory)
        if op == "pld.tile.remote_store":
            tile, memory, peer, offset = values
            return ops_distributed.tile_remote_store(tile, memory, peer, [0, offset])
        raise CompileError(f"{op} has no word in the language", self.call.span)

    def cell(self, number):
        """A recipe needs a cell for each rank: the column of a mesh's signal, the first row of a ring's matrix."""
        is_column = self.call.kwargs.get("mode") != "ring"
        return [number, 0] if is_column else [0, number]

    def variables(self, trees, types):
        made = []
        for tree, kind in zip(trees, types):
            var = nodes.Var(self.fresh(tree["name"]), kind, self.call.span)
            self.known[tree["name"]] = var
            made.append(var)
        return made

    def stmt_for(self, stmt):
        start, stop = self.expr(stmt["lo"]), self.expr(stmt["hi"])
        [counter] = self.variables([stmt["var"]], [nodes.ScalarType(dtypes.INDEX)])
        carried = []
        for each in stmt["carried"]:
            init = self.expr(each["init"])
            carried.append(nodes.IterArg(self.fresh(each["inner"]["name"]), init.type, init, self.call.span))
            self.known[each["inner"]["name"]] = carried[-1]
        body = self.block(stmt["body"], carried)
        results = self.variables([c["result"] for c in stmt["carried"]], [c.type for c in carried])
        one = nodes.ConstInt(1, dtypes.INDEX, self.call.span)
        self.made.append(nodes.ForStmt(counter, start, stop, one, carried, body, results, ForKind.Sequential, self.call.span))

    def stmt_if(self, stmt):
        condition = self.expr(stmt["condition"])
        then = self.block(stmt["then_block"], stmt["results"])
        other = self.block(stmt["else_block"], stmt["results"])
        kinds = [v.type for v in then.stmts[-1].value] if stmt["results"] else []
        results = self.variables(stmt["results"], kinds)
        self.made.append(nodes.IfStmt(condition, then, other if other.stmts else None, results, self.call.span))


class LowerCompositeOps(Rewriter):
    """Collectives of kernels become what Peal makes of them; those of HOST functions stay."""

    def function(self, function):
        if function.is_host() or function.body is None:
            return function
        self.fresh, self.pending = Fresh(names_of(function)), []
        self.generations = {}
        made = super().function(function)
        zero = nodes.ConstInt(0, dtypes.INDEX, function.span)
        begin = [nodes.AssignStmt(g, zero, function.span) for g in self.generations.values()]
        made.body = nodes.SeqStmts([*begin, *made.body.stmts], made.body.span)
        return made

    def stmt(self, stmt):
        made = super().stmt(stmt)
        before, self.pending = self.pending, []
        return [*before, *made]

    def block(self, block):
        outer, self.pending = self.pending, []
        made = super().block(block)
        self.pending = outer
        return made

    def stmt_eval_stmt(self, stmt):
        """One that was made for its effect alone leaves nothing else."""
        call = self.expr(stmt.expr)
        return [nodes.EvalStmt(call, stmt.span)] if isinstance(call, nodes.Call) else []

    def expr_call(self, call):
        call = self.below(call)
        if isinstance(call.op, nodes.GlobalVar) or call.op.name not in COMPOSITES:
            return call
        self.require_names(call)
        with registry.at(call.span), registry.inside(False):
            words = Words(call, self.fresh, self.generation_of(call.args[signal_at(call)]))
            words.made.extend(words.block(Recipe(call).body()).stmts)
        self.pending.extend(words.made)
        return call.args[registry.RESULT[call.op.name]]

    def require_names(self, call):
        for arg in call.args:
            if not isinstance(arg, nodes.Var):
                raise CompileError(f"{call.op.name}: the pass needs operands that have names", call.span)

    def generation_of(self, signal):
        name = signal.name_hint
        if name not in self.generations:
            kind = nodes.ScalarType(dtypes.INDEX)
            self.generations[name] = nodes.Var(self.fresh(f"{name}_generation"), kind, signal.span)
        return self.generations[name]
