"""Statements: assignments, conditions and loops become nodes and blocks."""

from __future__ import annotations

import ast
from typing import Any

from .exits import RETURN_VALUE
from .expressions import Expressions
from .frontend import NotCompiled
from .graph import Node, Value
from .scopes import Missing, PythonObject, Scope
from .types import INT, STR, TENSOR, Type, goes_for, unify

_IN_PLACE = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}


class Statements(Expressions):
    """Compiles statements into the current block."""

    def statements(self, body: list[ast.stmt]) -> None:
        """Compile one after the other, up to one that raises."""
        for one in body:
            self.statement(one)
            if self.scope.raises:
                return

    def statement(self, node: ast.stmt) -> None:
        """Compile one."""
        with self.at(node):
            method = getattr(self, f"_do_{type(node).__name__}", None)
            if method is None:
                raise self.source.unsupported(node, f"{type(node).__name__} statements aren't supported")
            method(node)

    def _do_Pass(self, node: ast.Pass) -> None:
        pass

    def _do_Import(self, node: ast.stmt) -> None:
        raise self.source.unsupported(node, f"{type(node).__name__} statements aren't supported")

    def _do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expression(node.value)

    def _do_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            given = self.expression(node.value)
            for target in node.targets:
                self._store(target, given, node)
            return
        target = node.targets[0]
        wanted = None
        if isinstance(target, ast.Name):
            wanted = self.returned if target.id == RETURN_VALUE else self.scope.outer.get(target.id)
        given = self.expression(node.value, wanted)
        if isinstance(target, ast.Name) and target.id == RETURN_VALUE:
            given = self._returned_value(given, node)
        self._store(target, given, node)

    def _returned_value(self, given: Any, node: ast.Assign) -> Value:
        """Return what a function returns as a value of the type that it says."""
        value = self.as_value(given, node.value)
        if self.returned is None:
            return value
        made = self.converted(value, self.returned)
        if made is None:
            raise self.source.error(
                node,
                f"Return value was annotated as having type {self.returned} but is actually of type {value.kind}",
                True,
            )
        return made

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        kind = self.annotation(node.annotation)
        if node.value is None:
            raise self.source.unsupported(node, "AnnAssign without assigned value")
        given = self.as_type(self.value(node.value, kind), kind, node)
        if isinstance(node.target, ast.Name):
            self.scope.declared[node.target.id] = kind
            if given.kind != kind:
                given = self.emit("prim::unchecked_cast", [given], kind)
                self.block.nodes[-1].shown["_annotated"] = True
        self._store(node.target, given, node)

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Subscript):
            self._change_item(node, target)
            return
        load = ast.copy_location(
            ast.Name(target.id, ast.Load())
            if isinstance(target, ast.Name)
            else ast.Attribute(target.value, target.attr, ast.Load()),
            target,
        )
        before = self.value(load)
        name = _IN_PLACE.get(type(node.op))
        if before.kind == TENSOR and name:
            self._store(target, self.operator(name, [before, self.value(node.value)], node=node), node)
        elif before.kind.name == "List" and isinstance(node.op, ast.Add):
            self._store(target, self.operator("add_", [before, self.value(node.value)], node=node), node)
        else:
            made = self.binary(node.op, before, self.value(node.value), node)
            self._store(target, made, node)

    def _change_item(self, node: ast.AugAssign, target: ast.Subscript) -> None:
        owner = self.value(target.value)
        name = _IN_PLACE.get(type(node.op))
        if owner.kind == TENSOR:
            if name is None:
                raise NotCompiled(f"{type(node.op).__name__} into a part of a tensor")
            part = self.tensor_item(owner, target.slice, node)
            self.operator(name, [part, self.value(node.value)], node=node)
            return
        key = self.value(target.slice)
        made = self.binary(node.op, self.item(owner, key, node), self.value(node.value), node)
        self.set_item(owner, key, made)

    def set_item(self, owner: Value, key: Value, value: Value) -> None:
        """Put `owner[key] = value` of a list or a dict into the graph."""
        if owner.kind.name == "Dict":
            self.emit_nothing("aten::_set_item", [owner, key, value])
        else:
            self.emit("aten::_set_item", [owner, key, value], owner.kind)

    def _store(self, target: ast.expr, given: Any, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self.set_variable(target.id, given, node)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._store_parts(target, given, node)
        elif isinstance(target, ast.Subscript):
            self._store_item(target, given, node)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(target, self.as_value(given, node), node)
        else:
            raise self.source.unsupported(target, f"{type(target).__name__} targets aren't supported")

    def set_variable(self, name: str, given: Any, node: ast.AST) -> None:
        """Bind a variable. A block inside may not give it another type."""
        if isinstance(given, bool):
            given = self.constant(given)
        if isinstance(given, PythonObject):
            given = self.unit.constant_of(self, given.held) or given
        if isinstance(given, Value):
            wanted = self.scope.outer.get(name)
            if wanted is not None and not name.startswith("$") and not goes_for(given.kind, wanted):
                given = self.converted(given, wanted) or given
            if wanted is not None and not name.startswith("$") and not goes_for(given.kind, wanted):
                raise self.source.error(
                    node,
                    f"Variable '{name}' previously had type {wanted} but is now being assigned to a value of type {given.kind}",
                    True,
                )
            made_here = given.node in self.block.nodes if given.node is not None else given in self.block.inputs[:1]
            if not given.hint and not name.startswith("$") and made_here:
                given.hint = name
        self.scope.names[name] = given

    def _store_parts(self, target: ast.Tuple | ast.List, given: Any, node: ast.AST) -> None:
        starred = [place for place, one in enumerate(target.elts) if isinstance(one, ast.Starred)]
        items = list(self.parts_of(given, len(target.elts) - len(starred), node, bool(starred)))
        if starred:
            place = starred[0]
            end = len(items) - (len(target.elts) - place - 1)
            middle = self.make_tuple([self.as_value(one, node) for one in items[place:end]])
            items[place:end] = [middle]
        if len(items) != len(target.elts):
            many = "need more" if len(items) < len(target.elts) else "too many"
            raise self.source.error(
                target,
                f"Provided {len(items)} values but {len(target.elts)} targets" if many else "",
            )
        for one, value in zip(target.elts, items, strict=True):
            self._store(one.value if isinstance(one, ast.Starred) else one, value, node)

    def _store_item(self, target: ast.Subscript, given: Any, node: ast.AST) -> None:
        owner, value = self.value(target.value), self.as_value(given, node)
        if owner.kind != TENSOR:
            kind = owner.kind.args[-1] if owner.kind.args else value.kind
            self.set_item(owner, self.value(target.slice), self.as_type(value, kind, node))
            return
        indexed = self.tensor_indices(owner, target.slice, node)
        if isinstance(indexed, tuple):
            part, indices = indexed
            value = self._as_tensor_like(part, value)
            self.operator("index_put_", [part, indices, value], node=node)
            return
        self.operator("copy_", [indexed, self._as_tensor_like(indexed, value)], node=node)

    def _as_tensor_like(self, part: Value, value: Value) -> Value:
        if value.kind == TENSOR:
            return value
        dtype = self.emit("prim::dtype", [part], INT)
        device = self.emit("prim::device", [part], Type("Device"))
        return self.operator("tensor", [value], {"dtype": dtype, "device": device})

    # Conditions

    def _do_If(self, node: ast.If) -> None:
        condition = self.condition(node.test)
        if condition.known is not None:
            self.refine(condition.holds if condition.known else condition.fails)
            self.statements(node.body if condition.known else node.orelse)
            return
        made = Node("prim::If", [condition.value], self.place)
        before, scopes = self.scope, []
        for body, types in ((node.body, condition.holds), (node.orelse, condition.fails)):
            self.scope = before.inner()
            with self.inside(made):
                self.refine(types)
                self.statements(body)
            scopes.append(self.scope)
        self.scope = before
        self.block.nodes.append(made)
        self._join(made, scopes[0], scopes[1], node)

    def _join(self, made: Node, first: Scope, second: Scope, node: ast.AST) -> None:
        """Let variables that the blocks set differently be what the condition gives."""
        if first.raises and second.raises:
            self.scope.raises = True
            return
        for name in dict.fromkeys([*first.names, *second.names]):
            one, other = first.names.get(name), second.names.get(name)
            if one is other:
                self.scope.names[name] = one
                continue
            joined = self._joined(made, name, (one, other), (first.raises, second.raises), node)
            if joined is not None:
                self.scope.names[name] = joined
        for name in {**first.declared, **second.declared}:
            kind = first.declared.get(name) or second.declared.get(name)
            if kind is not None and isinstance(self.scope.names.get(name), Value):
                self.scope.declared.setdefault(name, kind)

    def _joined(self, made: Node, name: str, both: tuple[Any, Any], raises: tuple[bool, bool], node: ast.AST) -> Any:
        one, other = both
        if raises[0] or raises[1]:
            kept = other if raises[0] else one
            if not isinstance(kept, Value):
                return kept
            pair = [kept, kept]
            pair[0 if raises[0] else 1] = self.uninitialized(kept.kind)
            return self._output(made, pair, kept.kind, name)
        if one is None or other is None or isinstance(one, Missing) or isinstance(other, Missing):
            known = other if one is None or isinstance(one, Missing) else one
            if name.startswith("$") and isinstance(known, Value):
                filled = self.uninitialized(known.kind)
                pair = [one if isinstance(one, Value) else filled, other if isinstance(other, Value) else filled]
                return self._output(made, pair, known.kind, name)
            branch = "true" if one is None else "false"
            return Missing(f"{name} is not defined in the {branch} branch", True)
        if not isinstance(one, Value) or not isinstance(other, Value):
            return Missing(f"{name} is set to different things in the two branches")
        kind = unify(one.kind, other.kind)
        wanted = self.scope.outer.get(name) or self.scope.declared.get(name)
        if kind is None and wanted is not None and goes_for(one.kind, wanted) and goes_for(other.kind, wanted):
            kind = wanted
        if kind is None:
            if self.uninitialized(one.kind) is one or name.startswith("$left"):
                kind = other.kind
            elif name == RETURN_VALUE:
                raise self.source.error(
                    node,
                    f"Previous return statement returned a value of type {one.kind} but this return statement returns a value of "
                    f"type {other.kind}",
                )
            else:
                return Missing(
                    f"Type mismatch: {name} is set to type {one.kind} in the true branch and type {other.kind} in the false "
                    "branch",
                    True,
                )
        return self._output(made, [one, other], kind, name)

    def _output(self, made: Node, pair: list[Value], kind: Type, name: str) -> Value:
        for block, value in zip(made.blocks, pair, strict=True):
            block.outputs.append(value)
        return made.add_output(kind, "" if name.startswith("$") else name)

    def refine(self, types: dict[str, Type]) -> None:
        """Let variables have the types that a condition proved."""
        for name, kind in types.items():
            value = self.scope.names.get(name)
            if isinstance(value, Value) and value.kind != kind:
                made = self.emit("prim::unchecked_cast", [value], kind, hint=name)
                assert made.node is not None
                made.node.shown["_refined"] = True
                self.scope.names[name] = made

    def _do_Assert(self, node: ast.Assert) -> None:
        condition = self.condition(node.test)
        if condition.known:
            return
        made = Node("prim::If", [self.as_value(condition.value, node)], self.place)
        before, scopes = self.scope, []
        for fails in (False, True):
            self.scope = before.inner()
            with self.inside(made):
                self.refine(condition.fails if fails else condition.holds)
                if fails:
                    text = self.constant("AssertionError: ")
                    if node.msg is not None:
                        text = self.emit("aten::add", [text, self.as_text(self.value(node.msg))], STR)
                    self.emit_nothing("prim::RaiseException", [text, self.constant(None)])
                    self.scope.raises = True
            scopes.append(self.scope)
        self.scope = before
        self.block.nodes.append(made)
        self._join(made, scopes[0], scopes[1], node)

    def _do_Raise(self, node: ast.Raise) -> None:
        if node.exc is None:
            raise self.source.unsupported(node, "Bare raise is not supported")
        call = node.exc
        kind = self.expression(call.func if isinstance(call, ast.Call) else call)
        if not isinstance(kind, PythonObject) or not isinstance(kind.held, type):
            raise NotCompiled("a raise of something that is no class")
        said: Value = self.constant("")
        if isinstance(call, ast.Call) and call.args:
            said = self.as_text(self.value(call.args[0]))
        module = kind.held.__module__
        self.emit_nothing("prim::RaiseException", [said, self.constant(f"{module}.{kind.held.__name__}")])
        self.scope.raises = True

    def _do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scope.names.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                self.emit_nothing("aten::Delete", [self.value(target.value), self.value(target.slice)])

    def _do_With(self, node: ast.With) -> None:
        raise NotCompiled("with statements")
