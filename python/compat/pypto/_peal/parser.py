# SPDX-License-Identifier: Apache-2.0
"""Functions of a program: from the text of the user's file to nodes. Errors appear where the class statement runs."""

import ast
import linecache

from ..language.parser.diagnostics import (
    InvalidOperationError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    SSAViolationError,
    UndefinedVariableError,
    UnsupportedFeatureError,
)
from . import dtypes, nodes, registry
from .enums import ForKind, FunctionType, Level, ParamDirection, Role
from .expressions import ExpressionParser
from .nodes import Span

_trees = {}  # file name -> (lines, tree)

LOOPS = {
    "pl.range": ForKind.Sequential,
    "pl.parallel": ForKind.Parallel,
    "pl.unroll": ForKind.Unroll,
}


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


def parse_program(cls, names):
    marked = [m for m in vars(cls).values() if isinstance(m, Marked)]
    if not marked:
        raise ParserSyntaxError(f"class {cls.__name__} has no method under @pl.function")
    signatures = {}
    parsers = [FunctionParser(m, names, signatures) for m in marked]
    for parser in parsers:
        parser.read_signature()
    for parser in parsers:
        parser.guarded(parser.read_body)
    return nodes.Program(cls.__name__, [p.result for p in parsers], parsers[0].result.span)


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


class FunctionParser(ExpressionParser):
    def __init__(self, marked, names, signatures):
        self.marked = marked
        self.tree = definition_of(marked.function)
        super().__init__(marked.function.__code__.co_filename, names, signatures)
        self.is_incore = marked.type == FunctionType.InCore
        self.buffers = set()
        self.loop_depth = 0

    def guarded(self, read):
        """Anything unforeseen is an error of the program too, and says where."""
        try:
            return read()
        except ParserError:
            raise
        except RecursionError:
            raise ParserSyntaxError(f"Failed to parse function {self.tree.name}: nested too deep", self.span(self.tree))

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
        kind = self.evaluated(tree, f"the annotation of '{argument.arg}'")
        if not isinstance(kind, (nodes.TensorType, nodes.ScalarType)):
            raise ParserTypeError(
                f"parameter '{argument.arg}' must be a pl.Tensor, pld.DistributedTensor or pl.Scalar, found {kind}",
                self.span(tree),
            )
        if isinstance(kind, nodes.ScalarType) and direction != ParamDirection.In:
            raise ParserTypeError(f"scalar parameter '{argument.arg}' cannot be {direction.name}", self.span(tree))
        return direction, kind

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
        statements = self.tree.body
        if len(statements) == 1 and is_ellipsis(statements[0]):
            self.result.requires_runtime_binding = True
            statements = []
        self.result.body = self.block(statements)
        if self.result.returned is None:
            self.result.returned = []

    def block(self, trees):
        made = []
        for tree in trees:
            read = getattr(self, f"read_{type(tree).__name__}", None)
            if read is None:
                raise UnsupportedFeatureError(f"a {type(tree).__name__} statement is not supported", self.span(tree))
            with registry.at(self.span(tree)):
                statement = read(tree)
            if statement is not None:
                made.append(statement)
        return nodes.SeqStmts(made, made[0].span if made else None)

    def read_Pass(self, tree):
        return None

    def read_Return(self, tree):
        values = tree.value.elts if isinstance(tree.value, ast.Tuple) else [tree.value]
        values = [] if tree.value is None else [self.value(v) for v in values]
        if len(values) == 1 and isinstance(values[0].type, nodes.TupleType):
            returned = self.alias_list(values[0])
        else:
            returned = [self.alias(v) for v in values]
        if self.result.returned is None:
            self.result.returned = returned
        return nodes.ReturnStmt(values, self.span(tree))

    def read_Expr(self, tree):
        if isinstance(tree.value, ast.Constant) and isinstance(tree.value.value, (str, type(...))):
            return None
        if self.written_name(tree.value) == "pl.yield_":
            raise ParserSyntaxError("pl.yield_ needs names for its values: x = pl.yield_(v)", self.span(tree))
        value = self.value(tree.value)
        if not isinstance(value, nodes.Call):
            raise ParserSyntaxError("this expression has no effect", self.span(tree))
        if value.op.name == "pld.tensor.alloc_window_buffer":
            raise ParserSyntaxError(
                "pld.alloc_window_buffer must appear as the RHS of a simple assignment", self.span(tree)
            )
        return nodes.EvalStmt(value, self.span(tree))

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
            return self.bind_tuple(target, self.value(tree.value), span)
        if isinstance(target, ast.Subscript):
            raise UnsupportedFeatureError("assignment to a subscript is not supported; use pl.store or pl.write", span)
        if not isinstance(target, ast.Name):
            raise UnsupportedFeatureError("only names can be assigned to", span)
        value = self.expression(tree.value)
        if not isinstance(value, (nodes.Expr, int, float, bool, list, tuple)):
            self.scope[target.id] = value  # a word of the language: known from here on, no node
            return None
        value = self.as_node(value, tree.value)
        if isinstance(value.type, nodes.PtrType):
            self.declare_buffer(target, value, span)
        return self.bind(target, value, span)

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
            if self.marked.strict_ssa:
                raise SSAViolationError(f"'{name}' is already assigned, and strict_ssa=True", span)
            unknown = (known.type, value.type)
            if known.type != value.type and not any(isinstance(t, nodes.UnknownType) for t in unknown):
                raise ParserTypeError(
                    f"Cannot reassign '{name}' with a different type: it is {known.type}, the new value {value.type}",
                    span,
                )
        var = nodes.Var(name, value.type, self.span(target))
        var.alias = self.alias(value)
        self.scope[name] = var
        return nodes.AssignStmt(var, value, span)

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

    # ---- loops and conditions

    def read_For(self, tree):
        span = self.span(tree)
        if tree.orelse:
            raise UnsupportedFeatureError("else after a loop is not supported", span)
        name = self.written_name(tree.iter)
        if not isinstance(tree.iter, ast.Call) or name not in LOOPS:
            known = ", ".join(LOOPS)
            raise ParserSyntaxError(f"a loop runs over one of {known}; found {ast.unparse(tree.iter)}", span)
        kind = LOOPS[name]
        keywords = {k.arg: k.value for k in tree.iter.keywords}
        inits = keywords.pop("init_values", None)
        if keywords:
            raise UnsupportedFeatureError(f"{name}: keyword '{next(iter(keywords))}' is not supported", span)
        bounds = [self.bound(b, name) for b in tree.iter.args]
        if not 1 <= len(bounds) <= 3:
            raise ParserSyntaxError(f"{name} takes 1 to 3 bounds, found {len(bounds)}", span)
        if kind == ForKind.Unroll and (inits is not None or any(registry.constant(b) is None for b in bounds)):
            raise ParserSyntaxError("pl.unroll needs bounds that are Python ints, and no init_values", span)
        zero, one = (nodes.ConstInt(n, dtypes.INDEX, span) for n in (0, 1))
        start, stop, step = {1: [zero, *bounds, one], 2: [*bounds, one], 3: bounds}[len(bounds)]
        if registry.constant(step) is None or registry.constant(step) <= 0:
            raise ParserSyntaxError("the step of a loop must be a positive number that is known", span)
        counter, carried_names = self.loop_target(tree.target, inits is not None, span)
        loop_var = nodes.Var(counter.id, nodes.ScalarType(dtypes.INDEX), self.span(counter))
        iter_args = self.carried(carried_names, inits, span)
        return self.finish_loop(tree, kind, loop_var, (start, stop, step), iter_args, span)

    def bound(self, tree, name):
        value = self.value(tree)
        if not isinstance(value.type, nodes.ScalarType) or not value.type.dtype.is_int():
            raise ParserTypeError(f"{name}: a bound must be an integer, found {value.type}", self.span(tree))
        return value

    def loop_target(self, target, has_inits, span):
        if isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(target.elts[1], ast.Tuple):
            if not has_inits:
                raise ParserSyntaxError("a loop with carried names needs init_values=", span)
            return target.elts[0], target.elts[1].elts
        if has_inits:
            raise ParserSyntaxError("init_values needs a target like: for i, (a,) in ...", span)
        if not isinstance(target, ast.Name):
            raise ParserSyntaxError("the target of a loop is a name", span)
        return target, []

    def carried(self, names, inits, span):
        if inits is None:
            return []
        values = inits.elts if isinstance(inits, (ast.Tuple, ast.List)) else [inits]
        if len(values) != len(names):
            raise ParserSyntaxError(f"{len(names)} carried names for {len(values)} init_values", span)
        made = []
        for name, tree in zip(names, values):
            value = self.value(tree)
            argument = nodes.IterArg(name.id, value.type, value, self.span(name))
            argument.alias = self.alias(value)
            made.append(argument)
        return made

    def finish_loop(self, tree, kind, loop_var, bounds, iter_args, span):
        outer_yield = self.yielded
        self.yielded = None
        self.scope[loop_var.name_hint] = loop_var
        for argument in iter_args:
            self.scope[argument.name_hint] = argument
        self.loop_depth += 1
        body = self.block(tree.body)
        self.loop_depth -= 1
        found, self.yielded = self.yielded, outer_yield
        if iter_args and found is None:
            raise ParserSyntaxError("a loop with init_values must end in names = pl.yield_(...)", span)
        if (found is not None) and len(found) != len(iter_args):
            raise ParserSyntaxError(f"{len(found)} values are yielded, {len(iter_args)} carried", span)
        return_vars = [nodes.Var(v.name_hint, v.type, v.span) for v in found or []]
        for var, argument in zip(return_vars, iter_args):
            var.alias = getattr(argument, "alias", None)
            self.scope[var.name_hint] = var
        return nodes.ForStmt(loop_var, *bounds, iter_args, body, return_vars, kind, span)

    def read_yield(self, target, call, span):
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        values = [self.value(a) for a in call.args]
        if len(names) != len(values) or not all(isinstance(n, ast.Name) for n in names):
            raise ParserSyntaxError(f"pl.yield_: {len(names)} names for {len(values)} values", span)
        self.yielded = []
        for name, value in zip(names, values):
            var = nodes.Var(name.id, value.type, self.span(name))
            var.alias = self.alias(value)
            self.yielded.append(var)
        return nodes.YieldStmt(values, span)

    def read_If(self, tree):
        span = self.span(tree)
        condition = self.value(tree.test)
        if condition.type != nodes.ScalarType(dtypes.BOOL):
            raise ParserTypeError(f"a condition must be a comparison (BOOL), found {condition.type}", self.span(tree.test))
        outer_yield, self.yielded = self.yielded, None
        before = dict(self.scope)
        then_body = self.block(tree.body)
        after_then, then_yield = dict(self.scope), self.yielded
        self.scope, self.yielded = dict(before), None
        else_body = self.block(tree.orelse) if tree.orelse else None
        else_yield, self.yielded = self.yielded, outer_yield
        return_vars = self.merge_yields(then_yield, else_yield, span)
        # A branch that returns has no say in what comes after.
        if ends(else_body):
            self.scope = after_then
        elif not ends(then_body):
            merged = dict(before)
            for name, value in self.scope.items():
                if name in before or name in after_then:
                    merged[name] = value
            self.scope = merged
        for var in return_vars:
            self.scope[var.name_hint] = var
        return nodes.IfStmt(condition, then_body, else_body, return_vars, span)

    def merge_yields(self, then_yield, else_yield, span):
        if then_yield is None and else_yield is None:
            return []
        if then_yield is None or else_yield is None or len(then_yield) != len(else_yield):
            raise ParserSyntaxError("both branches yield the same number of values, or none does", span)
        merged = []
        for a, b in zip(then_yield, else_yield):
            if a.name_hint != b.name_hint or a.type != b.type:
                raise ParserTypeError(f"the branches yield '{a}' of {a.type} and '{b}' of {b.type}", span)
            var = nodes.Var(a.name_hint, a.type, span)
            var.alias = a.alias if a.alias == b.alias else None
            merged.append(var)
        return merged


def ends(body):
    """Whether a block ends in a return."""
    return bool(body and body.stmts and isinstance(body.stmts[-1], nodes.ReturnStmt))


def is_ellipsis(tree):
    return isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant) and tree.value.value is ...
