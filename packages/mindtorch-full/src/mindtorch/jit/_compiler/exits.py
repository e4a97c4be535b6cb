"""Early exits made plain: `return`, `break` and `continue` become assignments and conditions, so that blocks run to their end.

What is returned is the variable `$return`. Where a block may have left, `$left` says so, and what follows stands under it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

NO, ALWAYS, MAYBE, RAISES = "no", "always", "maybe", "raises"
RETURNED, RETURN_VALUE = "$returned", "$return"


@dataclass
class _Loop:
    depth: int
    returns: bool = False
    breaks: bool = False

    @property
    def goes_on(self) -> str:
        return f"$go{self.depth}"


def settle(function: ast.FunctionDef) -> list[ast.stmt]:
    """Return the body of a function without exits in the middle of blocks."""
    return _Exits().function(function)


def assign(name: str, value: ast.expr, node: ast.AST) -> ast.stmt:
    """Return `name = value` at the place of a node."""
    return ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), node)], value), node)  # type: ignore[type-var]


def _constant(value: bool | None, node: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Constant(value), node)  # type: ignore[type-var]


def _name(name: str, node: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), node)  # type: ignore[type-var]


class _Exits:
    def __init__(self) -> None:
        self._loops: list[_Loop] = []

    def function(self, function: ast.FunctionDef) -> list[ast.stmt]:
        body, state = self._block(function.body)
        nothing = assign(RETURN_VALUE, _constant(None, function.body[-1]), function.body[-1])
        if state == NO:
            body.append(nothing)
        elif state == MAYBE:
            body.append(self._unless(self._left, [nothing], function.body[-1]))
        return body

    @property
    def _left(self) -> str:
        return f"$left{len(self._loops)}"

    def _unless(self, name: str, body: list[ast.stmt], node: ast.AST) -> ast.If:
        return ast.copy_location(ast.If(_name(name, node), [], body), node)  # type: ignore[type-var]

    def _marked(self, body: list[ast.stmt], state: str, node: ast.AST) -> list[ast.stmt]:
        if state in (MAYBE, RAISES):
            return body
        return [*body, assign(self._left, _constant(state == ALWAYS, node), node)]

    def _block(self, statements: list[ast.stmt]) -> tuple[list[ast.stmt], str]:
        made: list[ast.stmt] = []
        for place, one in enumerate(statements):
            rest = statements[place + 1 :]
            if isinstance(one, (ast.Return, ast.Break, ast.Continue)):
                return [*made, *self._leave(one)], ALWAYS
            if isinstance(one, ast.Raise):
                return [*made, one], RAISES
            if isinstance(one, ast.If):
                new, state, done = self._condition(one, rest)
            elif isinstance(one, (ast.For, ast.While)):
                new, state = self._loop(one)
                done = False
            elif isinstance(one, ast.With):
                body, state = self._block(one.body)
                if state == ALWAYS and body and not self._loops and _returns_last(body):
                    kept = ast.copy_location(ast.With(one.items, body), one)
                    return [*made, kept], ALWAYS
                new, done = [ast.copy_location(ast.With(one.items, body), one)], False
                state = NO if state == RAISES else state
            else:
                new, state, done = [one], NO, False
            made += new
            if done or state in (ALWAYS, RAISES):
                return made, state
            if state == MAYBE:
                if not rest:
                    return made, MAYBE
                return self._after(made, rest, one)
        return made, NO

    def _after(self, made: list[ast.stmt], rest: list[ast.stmt], node: ast.stmt) -> tuple[list[ast.stmt], str]:
        """Put what follows a block that may have left under the condition that it has not."""
        left = self._left
        body, state = self._block(rest)
        if state in (ALWAYS, RAISES):
            return [*made, self._unless(left, body, node)], ALWAYS
        return [*made, self._unless(left, self._marked(body, state, node), node)], MAYBE

    def _leave(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Return):
            made = [assign(RETURN_VALUE, node.value or _constant(None, node), node)]
            if self._loops:
                for loop in self._loops:
                    loop.returns = loop.breaks = True
                made += [assign(RETURNED, _constant(True, node), node)]
                made += [assign(self._loops[-1].goes_on, _constant(False, node), node)]
            return made
        if isinstance(node, ast.Break):
            self._loops[-1].breaks = True
            return [assign(self._loops[-1].goes_on, _constant(False, node), node)]
        return [ast.copy_location(ast.Pass(), node)]

    def _condition(self, node: ast.If, rest: list[ast.stmt]) -> tuple[list[ast.stmt], str, bool]:
        """Return the new statements, whether they leave, and whether `rest` is in them."""
        body, first = self._block(node.body)
        other, second = self._block(node.orelse)
        plain = (NO, RAISES)
        if first in plain and second in plain:
            state = RAISES if first == second == RAISES else NO
            return [_if(node, body, other)], state, False
        if first == ALWAYS and second == NO and rest:
            other, second = self._block([*node.orelse, *rest])
            return self._joined(node, body, first, other, second)
        if first == NO and second == ALWAYS and rest:
            body, first = self._block([*node.body, *rest])
            return self._joined(node, body, first, other, second)
        made, state, _ = self._joined(node, body, first, other, second)
        return made, state, False

    def _joined(
        self, node: ast.If, body: list[ast.stmt], first: str, other: list[ast.stmt], second: str
    ) -> tuple[list[ast.stmt], str, bool]:
        if first in (ALWAYS, RAISES) and second in (ALWAYS, RAISES):
            return [_if(node, body, other)], RAISES if first == second == RAISES else ALWAYS, True
        made = _if(node, self._marked(body, first, node), self._marked(other, second, node))
        return [made], MAYBE, True

    def _loop(self, node: ast.For | ast.While) -> tuple[list[ast.stmt], str]:
        if node.orelse:
            raise NotImplementedError("else branches of loops aren't supported")
        loop = _Loop(len(self._loops) + 1)
        self._loops.append(loop)
        body, _ = self._block(node.body)
        self._loops.pop()
        made: list[ast.stmt] = []
        if loop.returns:
            made.append(assign(RETURNED, _constant(False, node), node))
        if loop.breaks:
            body.insert(0, assign(loop.goes_on, _constant(True, node), node))
        new: ast.For | ast.While
        if isinstance(node, ast.For):
            new = ast.For(node.target, node.iter, body, [])
        else:
            new = ast.While(node.test, body, [])
        ast.copy_location(new, node)
        new.goes_on = loop.goes_on if loop.breaks else None  # type: ignore[union-attr]
        new.returns = loop.returns  # type: ignore[union-attr]
        made.append(new)
        if not loop.returns:
            return made, NO
        made.append(assign(self._left, _name(RETURNED, node), node))
        if self._loops:  # the loop around it ends too
            ends = [assign(self._loops[-1].goes_on, _constant(False, node), node)]
            made.append(ast.copy_location(ast.If(_name(RETURNED, node), ends, []), node))
        return made, MAYBE


def _returns_last(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Assign)


def _if(node: ast.If, body: list[ast.stmt], other: list[ast.stmt]) -> ast.If:
    return ast.copy_location(ast.If(node.test, body, other), node)
