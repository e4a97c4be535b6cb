"""Loops: what they carry from turn to turn, and how often they go on."""

from __future__ import annotations

import ast
from typing import Any

from .exits import RETURN_VALUE
from .frontend import NotCompiled
from .graph import Node, Value
from .scopes import Condition, Counted, Parts
from .statements import Statements
from .types import BOOL, INT, Type

_LARGEST = 9223372036854775807


class Loops(Statements):
    """Compiles loops."""

    def _do_For(self, node: ast.For) -> None:
        over = self.iterable(node.iter)
        if isinstance(over, Parts):
            if getattr(node, "goes_on", None):
                raise self.source.error(
                    node, "break, continue and return are not supported in loops over modules and tuples"
                )
            for one in over.items:
                self._store(node.target, one, node)
                self.statements(node.body)
            return
        self._loop(node, over)

    def _do_While(self, node: ast.While) -> None:
        self._loop(node, None)

    def _loop(self, node: ast.For | ast.While, over: Counted | None) -> None:
        goes_on = getattr(node, "goes_on", None)
        counted = over is not None and not goes_on
        true = self.constant(True)
        names = self._carried(node)
        before = self.scope
        made = Node("prim::Loop", [], self.place)
        self.scope = before.inner()
        self.scope.outer.update({name: before.names[name].kind for name in names if name not in before.declared})
        inner: Value
        with self.inside(made):
            inner = Value(INT)
            self.block.inputs.append(inner)
            for name in names:
                kind = before.declared.get(name, before.names[name].kind)
                if name.startswith("$return"):
                    kind = before.names[name].kind
                self.scope.names[name] = Value(kind, None, "" if name.startswith("$") else name)
                self.block.inputs.append(self.scope.names[name])
            counter = inner
            if over is not None and not counted:
                counter = Value(INT)
                self.block.inputs.append(counter)
            if over is not None:
                assert isinstance(node, ast.For)
                if over.is_range and isinstance(node.target, ast.Name) and over.item(None) is None:
                    counter.hint = node.target.id
                self._store(node.target, counter if over.item(None) is None else over.item(counter), node)
            self.statements(node.body)
            after = self._next(node, over, counter, goes_on, true)
            self.block.outputs = [
                after[0],
                *(self.as_value(self.scope.names[name], node) for name in names),
                *after[1:],
            ]
        self.scope = before
        self._enter(made, node, over, counted, names, true)
        for name in names:
            kind = made.blocks[0].inputs[1 + names.index(name)].kind
            before.names[name] = made.add_output(kind, "" if name.startswith("$") else name)
        if over is not None and not counted:
            made.add_output(INT)
        self.block.nodes.append(made)

    def _next(self, node: Any, over: Counted | None, counter: Value, goes_on: str | None, true: Value) -> list[Value]:
        """Return whether the loop goes on after a turn, and the next count where it is counted by hand."""
        if over is not None and not goes_on:
            return [true]
        more: list[Value] = []
        if over is not None:
            count = self.emit("aten::add", [counter, self.constant(1)], INT)
            more = [count]
            test = self.emit("aten::lt", [count, over.length], BOOL)
        else:
            condition = self.condition(node.test)
            test = self.as_value(condition.value, node)
        if goes_on:
            still = self.as_value(self.scope.names[goes_on], node)
            if test is true:
                test = still
            elif still is not true:
                test = self.emit("aten::__and__", [test, still], BOOL)
        return [test, *more]

    def _enter(self, made: Node, node: Any, over: Any, counted: bool, names: list[str], true: Value) -> None:
        start = [self.scope.names[name] for name in names]
        if counted:
            made.inputs = [over.length, true, *start]
        elif over is not None:
            zero = self.constant(0)
            made.inputs = [self.constant(_LARGEST), self.emit("aten::gt", [over.length, zero], BOOL), *start, zero]
        else:
            test: Condition = self.condition(node.test)
            made.inputs = [self.constant(_LARGEST), self.as_value(test.value, node), *start]

    def _carried(self, node: ast.For | ast.While) -> list[str]:
        """Return the variables of before that the loop sets; what it returns is one, though nothing was before."""
        stored: dict[str, None] = {}
        for part in [*node.body, *([node.target] if isinstance(node, ast.For) else [])]:
            for one in ast.walk(part):
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                    stored.setdefault(one.id)
                elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
                    stored.setdefault(one.target.id)
        if getattr(node, "returns", False) and RETURN_VALUE not in self.scope.names:
            if self.returned is None:
                self.returned = self.guess_return(node)
            self.scope.names[RETURN_VALUE] = self.uninitialized(self.returned)
        return [name for name in stored if isinstance(self.scope.names.get(name), Value)]

    def guess_return(self, node: ast.stmt) -> Type:
        """Return what the function returns from inside of a loop, by compiling the loop's body once for nothing."""
        before = self.scope
        self.scope = before.inner()
        with self.inside(Node("prim::Loop", [])):
            if isinstance(node, ast.For):
                over = self.iterable(node.iter)
                if isinstance(over, Counted):
                    counter = Value(INT)
                    self._store(node.target, counter if over.item(None) is None else over.item(counter), node)
            self.statements(node.body)  # type: ignore[attr-defined]
            found = self.scope.names.get(RETURN_VALUE)
        self.scope = before
        if not isinstance(found, Value):
            raise NotCompiled("a return whose type is not known")
        return found.kind
