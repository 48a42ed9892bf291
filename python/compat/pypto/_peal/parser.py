# SPDX-License-Identifier: Apache-2.0
"""Functions of a program: from the text of the user's file to nodes. Errors appear where the class statement runs."""

import ast
import collections
import linecache

from ..language.parser.diagnostics import (
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    SSAViolationError,
    UnsupportedFeatureError,
)
from . import nodes, registry
from .enums import FunctionType, Level, ParamDirection, Role
from .flow import FlowParser
from .liveness import live_before
from .visiting import variables

_trees = {}  # file name -> (lines, tree)

# Statements that are refused, and what a kernel does instead.
REFUSED = {
    "while": "a plan is made before any data is known, so a loop counts its rounds: for i in pl.range(...)",
    "break": "a loop does all its rounds: an if around what follows leaves it out",
    "continue": "a loop does all of a round: an if around what follows leaves it out",
    "+=": "a name is given its new value: x = x + y",
}
WRITTEN = {"AugAssign": "+="}

CONTEXTS = ("pl.at", "pl.manual_scope", "pl.scope")


class Marked:
    """A function under `@pl.function`, waiting for its class."""

    def __init__(self, function, type, level, role, strict_ssa):
        self.function, self.type, self.strict_ssa = function, type, strict_ssa
        self.level, self.role = implied(type, level, role)

    def __call__(self, *args, **kwargs):
        raise TypeError(f"{self.function.__name__} runs on devices: put it in a @pl.program and ir.compile() that")


def implied(type, level, role):
    """What the type of a function says of its level and role."""
    meant = {
        FunctionType.Orchestration: (Level.CHIP, Role.Orchestrator),
        FunctionType.InCore: (Level.CHIP_DIE, Role.SubWorker),
    }.get(type, (level, role))
    for name, given, wanted in (("level", level, meant[0]), ("role", role, meant[1])):
        if given is not None and given != wanted:
            raise ValueError(f"{name}={given!r} contradicts type={type!r}, which means {wanted!r}")
    return meant


def tree_of(filename):
    linecache.checkcache(filename)
    lines = linecache.getlines(filename)
    known = _trees.get(filename)
    if known is None or known[0] != lines:
        known = (lines, ast.parse("".join(lines), filename))
        _trees[filename] = known
    return known[1]


def definition_of(function):
    """The text of a function, as a tree: found by its file and first line."""
    code = function.__code__
    for node in ast.walk(tree_of(code.co_filename)):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    raise ParserSyntaxError(
        f"Failed to parse function {function.__name__}: its source is not in a file",
        hint="a program must come from a file, or its source be registered in linecache",
    )


def parse_program(cls, names, strict_ssa=False):
    marked = [m for m in vars(cls).values() if isinstance(m, Marked)]
    if not marked:
        raise ParserSyntaxError(f"class {cls.__name__} has no method under @pl.function")
    signatures = {}
    parsers = [FunctionParser(m, names, signatures) for m in marked]
    for parser in parsers:
        parser.strict_ssa |= strict_ssa
        parser.guarded(parser.read_signature)
    for parser in parsers:
        parser.guarded(parser.read_body)
    functions = [f for p in parsers for f in (*p.blocks, p.result)]
    return nodes.Program(cls.__name__, functions, parsers[0].result.span)


def parse_text(text):
    """The one program of a text. The text is registered in linecache, so that errors can show its lines."""
    filename = f"<program {len(_texts)}>"
    _texts.append(filename)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names = {"__name__": filename}
    exec(compile(text, filename, "exec"), names)  # noqa: S102: the caller's own text
    found = [value for value in names.values() if isinstance(value, nodes.Program)]
    if len(found) != 1:
        raise ParserSyntaxError(f"the text has {len(found)} programs; one was expected")
    return found[0]


_texts = []


class FunctionParser(FlowParser):
    def __init__(self, marked, names, signatures):
        self.marked, self.strict_ssa = marked, marked.strict_ssa
        self.tree = definition_of(marked.function)
        super().__init__(marked.function.__code__.co_filename, names, signatures)
        self.is_incore = marked.type == FunctionType.InCore
        self.buffers = set()
        self.given = None  # how often each name is
        self.blocks = []  # functions that blocks of this one became

    def guarded(self, read):
        """Anything unforeseen is an error of the program too, and says where."""
        try:
            return read()
        except ParserError:
            raise
        except RecursionError:
            raise ParserSyntaxError(f"Failed to parse function {self.tree.name}: nested too deep", self.span(self.tree))
        except Exception as error:
            words = f"Failed to parse function {self.tree.name}: {type(error).__name__}: {error}"
            raise ParserSyntaxError(words, getattr(error, "read_at", self.span(self.tree))) from error

    # ---- the signature

    def read_signature(self):
        tree = self.tree
        arguments = tree.args
        for kind, found in (
            ("*args", arguments.vararg),
            ("**kwargs", arguments.kwarg),
            ("keyword-only parameters", arguments.kwonlyargs),
            ("default values", arguments.defaults),
        ):
            if found:
                raise UnsupportedFeatureError(f"{kind} in the signature of {tree.name}", self.span(tree))
        params, directions = [], []
        for i, argument in enumerate(arguments.args):
            if i == 0 and argument.arg == "self":
                continue
            direction, kind = self.annotation(argument)
            var = nodes.Var(argument.arg, kind, self.span(argument))
            var.alias = len(params)
            params.append(var)
            directions.append(direction)
            self.scope[argument.arg] = var
        marked = self.marked
        returns = self.returned_types(tree.returns)
        self.result = nodes.Function(
            tree.name, params, directions, returns, None, marked.type, marked.level, marked.role, self.span(tree)
        )
        self.function = self.result
        self.result.filename = self.filename
        self.result.returned = None  # the parameters that its values are, once the body is read
        self.signatures[tree.name] = self.result

    def annotation(self, argument):
        tree = argument.annotation
        if tree is None:
            raise ParserTypeError(f"parameter '{argument.arg}' needs an annotation", self.span(argument))
        direction = ParamDirection.In
        if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
            tree = ast.copy_location(ast.parse(tree.value, mode="eval").body, tree)
        if isinstance(tree, ast.Subscript) and isinstance(tree.value, ast.Attribute):
            direction = {"Out": ParamDirection.Out, "InOut": ParamDirection.InOut}.get(tree.value.attr, direction)
        kind = self.declared(self.evaluated(tree, f"the annotation of '{argument.arg}'"), argument, len(self.scope))
        if not isinstance(kind, (nodes.TensorType, nodes.ScalarType)):
            raise ParserTypeError(
                f"parameter '{argument.arg}' must be a pl.Tensor, pld.DistributedTensor or pl.Scalar, found {kind}",
                self.span(tree),
            )
        if isinstance(kind, nodes.ScalarType) and direction != ParamDirection.In:
            raise ParserTypeError(f"scalar parameter '{argument.arg}' cannot be {direction.name}", self.span(tree))
        return direction, kind

    def declared(self, kind, argument, place):
        return kind

    def returned_types(self, tree):
        if tree is None or (isinstance(tree, ast.Constant) and tree.value is None):
            return []
        if isinstance(tree, ast.Subscript) and isinstance(tree.value, ast.Name) and tree.value.id == "tuple":
            items = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
            return [self.evaluated(item, "the return annotation") for item in items]
        return [self.evaluated(tree, "the return annotation")]

    def evaluated(self, tree, what):
        """An annotation, by Python itself."""
        code = compile(ast.fix_missing_locations(ast.Expression(tree)), self.filename, "eval")
        try:
            return eval(code, dict(self.names))  # noqa: S307: the user's own file, which Python has run
        except ParserError:
            raise
        except Exception as error:
            raise ParserTypeError(f"{what}: {error}", self.span(tree)) from error

    # ---- statements

    def read_body(self):
        statements = [s for s in self.tree.body if not is_docstring(s)]
        if len(statements) == 1 and is_ellipsis(statements[0]):
            self.result.requires_runtime_binding = True
            statements = []
        if self.result.is_sub_worker():  # Python, and run by Python
            self.result.python = self.marked.function
            self.result.returned = []
            return
        self.result.body = self.block(statements)
        if self.result.returned is None:
            self.result.returned = []

    def block(self, trees):
        made = []
        for tree in trees:
            read = getattr(self, f"read_{type(tree).__name__}", None)
            if read is None:
                word = type(tree).__name__
                shown = WRITTEN.get(word, word.lower())
                reason = REFUSED.get(shown)
                refused = f"{shown} is not supported: {reason}" if reason else f"{word} statements are not supported"
                raise UnsupportedFeatureError(refused, self.span(tree))
            with registry.at(self.span(tree)):
                statement = read(tree)
            if statement is not None:
                made.append(statement)
        return nodes.SeqStmts(made, made[0].span if made else None)

    def read_Pass(self, tree):
        return None

    def read_With(self, tree):
        """Blocks that say where they run: in a function of a device they run where they stand."""
        for item in tree.items:
            name = self.written_name(item.context_expr)
            if name not in CONTEXTS or item.optional_vars is not None:
                raise UnsupportedFeatureError(
                    f"with takes {', '.join(CONTEXTS)}; found {ast.unparse(item.context_expr)}", self.span(tree)
                )
        return self.outlined(tree) if self.function.is_host() else self.block(tree.body)

    def outlined(self, tree):
        """A block of the host that a device runs: a function of its own, and a dispatch of it. What it uses is given to it; names
        that it defines are its own."""
        span, host, before = self.span(tree), self.function, dict(self.scope)
        name = f"{host.name}_block_{len(self.blocks) + 1}"
        made = nodes.Function(
            name, [], [], [], None, FunctionType.Orchestration, Level.CHIP, Role.Orchestrator, span
        )
        # Inside, everything that may be given is a parameter; what is used will be one.
        inside = {}
        for place, (known, var) in enumerate(before.items()):
            if isinstance(var, nodes.Var) and isinstance(var.type, (nodes.TensorType, nodes.ScalarType)):
                inside[known] = nodes.Var(var.name_hint, var.type, var.span)
                inside[known].alias = place
        self.function, self.scope = made, {**before, **inside}
        made.body = self.block(tree.body)
        self.function, self.scope = host, before
        used = [n for n in inside if n in live_before(made.body.stmts, set())]
        places = {inside[n].alias: i for i, n in enumerate(used)}
        for var in variables(made.body) | {inside[n] for n in used}:
            var.alias = places.get(getattr(var, "alias", None))
        given = [before[n] for n in used]
        made.params = [inside[n] for n in used]
        made.param_directions = [ParamDirection.In] * len(used)
        made.filename, made.returned = self.filename, []
        self.blocks.append(made)
        self.signatures[name] = made
        call = nodes.Call(nodes.GlobalVar(name), given, {}, None, span)
        call.aliases = []
        return nodes.EvalStmt(call, span)

    def read_Return(self, tree):
        values = tree.value.elts if isinstance(tree.value, ast.Tuple) else [tree.value]
        values = [] if tree.value is None else [self.value(v) for v in values]
        if len(values) == 1 and isinstance(values[0].type, nodes.TupleType):
            returned = self.alias_list(values[0])
        else:
            returned = [registry.alias_of(v) for v in values]
        if self.result.returned is None:
            self.result.returned = returned
        return nodes.ReturnStmt(values, self.span(tree))

    def read_Expr(self, tree):
        if isinstance(tree.value, ast.Constant) and isinstance(tree.value.value, (str, type(...))):
            return None
        if self.written_name(tree.value) == "pl.yield_":
            raise ParserSyntaxError("pl.yield_ needs names for its values: x = pl.yield_(v)", self.span(tree))
        if self.bind_dynamic(tree.value):
            return None
        value = self.value(tree.value)
        if not isinstance(value, nodes.Call):
            raise ParserSyntaxError("this expression has no effect", self.span(tree))
        self.require_no_buffer(value, tree)
        return nodes.EvalStmt(value, self.span(tree))

    def bind_dynamic(self, tree):
        """x.bind_dynamic(dim, symbol): from here on the symbol is that dimension of a parameter."""
        called = isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and tree.func.attr == "bind_dynamic"
        if not called or not isinstance(tree.func.value, ast.Name) or len(tree.args) != 2:
            return False
        var, dim, symbol = self.value(tree.func.value), self.expression(tree.args[0]), self.expression(tree.args[1])
        if var not in self.result.params or not isinstance(symbol, nodes.DynVar) or not isinstance(dim, int):
            raise ParserTypeError("bind_dynamic takes a dimension of a parameter and a symbol", self.span(tree))
        shape = list(var.type.shape)
        shape[dim] = symbol
        var.type = type(var.type)(shape, var.type.dtype)
        return True

    def read_AnnAssign(self, tree):
        if not isinstance(tree.target, ast.Name) or tree.value is None:
            raise UnsupportedFeatureError("an annotation here needs a name and a value", self.span(tree))
        kind = self.evaluated(tree.annotation, f"the annotation of '{tree.target.id}'")
        value = self.value(tree.value)
        if isinstance(kind, nodes.ScalarType) and isinstance(value.type, nodes.ScalarType):
            if kind.dtype.is_int() and value.type.dtype.is_int() and kind != value.type:
                value = nodes.Cast(value, kind.dtype, self.span(tree.value))
        if value.type != kind and not isinstance(value.type, nodes.UnknownType):
            raise ParserTypeError(
                f"'{tree.target.id}' is annotated {kind}, but its value is {value.type}", self.span(tree)
            )
        return self.bind(tree.target, value, self.span(tree))

    def read_Assign(self, tree):
        if len(tree.targets) != 1:
            raise UnsupportedFeatureError("one target at a time: a = b = c is not supported", self.span(tree))
        target = tree.targets[0]
        span = self.span(tree)
        if self.written_name(tree.value) == "pl.yield_":
            return self.read_yield(target, tree.value, span)
        if isinstance(target, ast.Tuple):
            value = self.expression(tree.value)
            if isinstance(value, (tuple, list)):
                return self.bind_each(target, value, tree.value, span)
            return self.bind_tuple(target, self.as_node(value, tree.value), span)
        if isinstance(target, ast.Subscript):
            return self.assign_part(target, tree, span)
        if not isinstance(target, ast.Name):
            raise UnsupportedFeatureError("only names can be assigned to", span)
        value = self.expression(tree.value)
        if not isinstance(value, (nodes.Expr, int, float, bool, list, tuple)):
            self.scope[target.id] = value  # a word of the language: known from here on, no node
            return None
        return self.bind_value(target, value, tree.value, span)

    def bind_value(self, target, value, tree, span):
        """A name for a value. A Python number under a name that is given once is that number wherever the name stands."""
        node = self.as_node(value, tree)
        if isinstance(node.type, nodes.PtrType):
            self.declare_buffer(target, node, span)
        is_new = target.id not in self.scope
        made = self.bind(target, node, span)
        if is_new and isinstance(value, (int, float)) and self.times_given(target.id) == 1:
            self.scope[target.id] = value
        return made

    def times_given(self, name):
        if self.given is None:
            stores = (n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            self.given = collections.Counter(stores)
        return self.given[name]

    def assign_part(self, target, tree, span):
        """x[a:b, c:d] = y writes into x, and x is still its name; x[i, j] = s writes one element."""
        if not isinstance(target.value, ast.Name):
            raise UnsupportedFeatureError("a part of a name can be assigned to, of nothing else", span)
        if self.strict_ssa:
            raise SSAViolationError(f"'{target.value.id}' is assigned to in part, and strict_ssa=True", span)
        base = self.value(target.value)
        if not isinstance(base.type, nodes.TensorType):
            raise ParserTypeError(f"a part of a tensor can be assigned to, found {base.type}", span)
        items = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if len(items) > len(base.type.shape):
            raise ParserTypeError(f"{len(items)} indices for {base.type}", span)
        if not any(isinstance(i, ast.Slice) for i in items) and len(items) == len(base.type.shape):
            indices = [self.index(i) for i in items]
            return nodes.EvalStmt(self.op_call("pl.write", [base, indices, self.value(tree.value)], {}, tree), span)
        offsets, extent, dropped = self.part(items, base.type.shape)
        source = self.value(tree.value)
        found = [str(d) for d in getattr(source.type, "valid_shape", getattr(source.type, "shape", []))]
        wanted = [str(d) for i, d in enumerate(extent) if i not in dropped]
        if found != wanted and found != [str(d) for d in extent]:
            raise ParserTypeError(f"a part of [{', '.join(wanted)}] cannot hold {source.type}", span)
        return self.bind(target.value, self.op_call("pl.assemble", [base, source, offsets], {}, tree), span)

    def declare_buffer(self, target, value, span):
        if not isinstance(value, nodes.Call):
            return
        if target.id in self.buffers:
            raise ParserSyntaxError(f"window buffer '{target.id}' is already declared", span)
        self.buffers.add(target.id)

    def bind(self, target, value, span):
        name = target.id
        if isinstance(value, nodes.Call) and isinstance(value.type, nodes.UnknownType):
            if not isinstance(value.op, nodes.GlobalVar):
                raise ParserTypeError(f"{value.op.name} is made for its effect and has no value", span)
        known = self.scope.get(name)
        if isinstance(known, nodes.Var):
            if self.strict_ssa:
                raise SSAViolationError(f"'{name}' is already assigned, and strict_ssa=True", span)
            unknown = (known.type, value.type)
            if known.type != value.type and not any(isinstance(t, nodes.UnknownType) for t in unknown):
                raise ParserTypeError(
                    f"Cannot reassign '{name}' with a different type: it is {known.type}, the new value {value.type}",
                    span,
                )
        var = nodes.Var(name, value.type, self.span(target))
        var.alias = registry.alias_of(value)
        self.scope[name] = var
        return nodes.AssignStmt(var, value, span)

    def bind_each(self, target, values, tree, span):
        """a, b = x.shape, or any two values."""
        if len(values) != len(target.elts) or not all(isinstance(t, ast.Name) for t in target.elts):
            raise ParserTypeError(f"{len(target.elts)} names for {len(values)} values", span)
        return nodes.SeqStmts([self.bind_value(name, value, tree, span) for name, value in zip(target.elts, values)], span)

    def bind_tuple(self, target, value, span):
        if not all(isinstance(t, ast.Name) for t in target.elts):
            raise UnsupportedFeatureError("only names can be assigned to", span)
        types = value.type.types if isinstance(value.type, nodes.TupleType) else None
        if types is None or len(types) != len(target.elts):
            raise ParserTypeError(f"{len(target.elts)} names for a value of {value.type}", span)
        held = nodes.Var("_".join(["values", *(t.id for t in target.elts)]), value.type, span)
        made = [nodes.AssignStmt(held, value, span)]
        for i, (name, kind, alias) in enumerate(zip(target.elts, types, self.alias_list(value))):
            item = nodes.TupleGetItemExpr(held, i, kind, span)
            item.alias = alias
            made.append(self.bind(name, item, span))
        return nodes.SeqStmts(made, span)


def is_docstring(tree):
    return isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant) and isinstance(tree.value.value, str)


def is_ellipsis(tree):
    return isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant) and tree.value.value is ...
