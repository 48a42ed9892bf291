# SPDX-License-Identifier: Apache-2.0
"""Loops and conditions of a body, and the values that they carry."""

import ast

from ..language.parser.diagnostics import ParserSyntaxError, ParserTypeError, UnsupportedFeatureError
from . import dtypes, nodes, registry
from .enums import ForKind
from .expressions import ExpressionParser

LOOPS = {
    "pl.range": ForKind.Sequential,
    "pl.parallel": ForKind.Parallel,
    "pl.unroll": ForKind.Unroll,
}


class FlowParser(ExpressionParser):
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
        if registry.constant(step) is not None and registry.constant(step) <= 0:
            raise ParserSyntaxError("the step of a loop must be positive", span)
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
            argument.alias = registry.alias_of(value)
            made.append(argument)
        return made

    def finish_loop(self, tree, kind, loop_var, bounds, iter_args, span):
        outer_yield = self.yielded
        self.yielded = None
        self.scope[loop_var.name_hint] = loop_var
        for argument in iter_args:
            self.scope[argument.name_hint] = argument
        body = self.block(tree.body)
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
            var.alias = registry.alias_of(value)
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
