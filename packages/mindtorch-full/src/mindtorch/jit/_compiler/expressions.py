"""Expressions become values of the graph, or things that exist only while the function is compiled."""

from __future__ import annotations

import ast
from typing import Any

from .calls import Calls
from .frontend import NotCompiled
from .graph import Node, Value
from .scopes import Condition, Method, Missing, ModuleValue, Operator, Parts, PythonObject
from .types import BOOL, INT, NONE, STR, TENSOR, Type, goes_for, list_of, optional, unify

_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "remainder",
    ast.Pow: "pow", ast.BitAnd: "__and__", ast.BitOr: "__or__", ast.BitXor: "__xor__", ast.MatMult: "matmul",
    ast.LShift: "__lshift__", ast.RShift: "__rshift__",
}  # fmt: skip
_COMPARED = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


class Expressions(Calls):
    """Compiles expressions."""

    def value(self, node: ast.expr, wanted: Type | None = None) -> Value:
        """Return the value of an expression. `wanted` is the type that its place has, where that is known."""
        return self.as_value(self.expression(node, wanted), node)

    def expression(self, node: ast.expr, wanted: Type | None = None) -> Any:
        """Return what an expression means."""
        with self.at(node):
            if isinstance(node, (ast.List, ast.Dict)):
                return self._collection(node, wanted)
            method = getattr(self, f"_of_{type(node).__name__}", None)
            if method is None:
                raise self.source.unsupported(node, f"{type(node).__name__} aren't supported")
            return method(node)

    def _of_Constant(self, node: ast.Constant) -> Value:
        if node.value is Ellipsis or isinstance(node.value, bytes):
            raise self.source.error(node, f"expected a constant, but got {node.value!r}")
        return self.constant(node.value)

    def _of_Name(self, node: ast.Name) -> Any:
        found = self.scope.names.get(node.id)
        if isinstance(found, Missing):
            raise self.source.error(node, found.why, found.certain)
        if found is not None:
            return found
        try:
            return PythonObject(self.source.find(node.id), node.id)
        except KeyError:
            raise self.source.error(node, f"undefined value {node.id}", True) from None

    def _of_Tuple(self, node: ast.Tuple) -> Value:
        return self.make_tuple([self.value(one) for one in node.elts])

    def _collection(self, node: ast.List | ast.Dict, wanted: Type | None) -> Value:
        bare = wanted.element if wanted is not None and wanted.name == "Optional" else wanted
        if isinstance(node, ast.Dict):
            return self._dict(node, bare)
        inner = bare.element if bare is not None and bare.name == "List" else None
        parts = [self.value(one, inner) for one in node.elts]
        if not parts:
            return self.make_list([], inner or TENSOR)
        kind: Type | None = parts[0].kind
        for one in parts[1:]:
            kind = None if kind is None else unify(kind, one.kind)
        if inner is not None and all(goes_for(one.kind, inner) for one in parts):
            kind = inner
        if kind is None:
            raise NotCompiled("a list of several types")
        return self.make_list(parts, kind)

    def _dict(self, node: ast.Dict, wanted: Type | None) -> Value:
        flat: list[Value] = []
        inner = wanted.args if wanted is not None and wanted.name == "Dict" else (None, None)
        for key, one in zip(node.keys, node.values, strict=True):
            if key is None:
                raise self.source.unsupported(node, "Dict expansion is not supported")
            flat += [self.value(key, inner[0]), self.value(one, inner[1])]
        kind = wanted if wanted is not None and wanted.name == "Dict" else Type("Dict", (STR, TENSOR))
        if flat and (wanted is None or wanted.name != "Dict"):
            kinds: list[Type | None] = [flat[0].kind, flat[1].kind]
            for place, one_value in enumerate(flat[2:]):
                before = kinds[place % 2]
                kinds[place % 2] = None if before is None else unify(before, one_value.kind)
            if None in kinds:
                raise NotCompiled("a dict of several types")
            kind = Type("Dict", tuple(one for one in kinds if one is not None))
        return self.emit("prim::DictConstruct", flat, kind)

    def _of_BinOp(self, node: ast.BinOp) -> Any:
        return self.binary(node.op, self.value(node.left), self.value(node.right), node)

    def binary(self, op: ast.operator, first: Value, second: Value, node: ast.AST) -> Value:
        """Return what an operator of Python gives for two values."""
        if first.kind == STR and isinstance(op, ast.Mod):
            parts = self.unpack(second) if second.kind.name == "Tuple" else [second]
            return self.emit("aten::percentFormat", [first, *parts], STR)
        name = _BINARY[type(op)]
        if isinstance(op, ast.FloorDiv) and TENSOR in (first.kind, second.kind):
            name = "floor_divide"
        if first.kind.name == "Tuple" and second.kind.name == "Tuple" and name == "add":
            return self.make_tuple(self.unpack(first) + self.unpack(second))
        return self.as_value(self.operator(name, [first, second], node=node), node)

    def _of_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            condition = self.condition(node)
            return condition.value
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return self.constant(-node.operand.value)  # type: ignore[operator]
        name = {ast.USub: "neg", ast.Invert: "bitwise_not"}.get(type(node.op))
        if name is None:
            raise self.source.unsupported(node, "UAdd aren't supported")
        return self.operator(name, [self.value(node.operand)], node=node)

    def _of_BoolOp(self, node: ast.BoolOp) -> Any:
        return self.condition(node).value

    def _of_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            return self.compare(node.ops[0], self.value(node.left), self.value(node.comparators[0]), node)
        return self.condition(node).value

    def compare(self, op: ast.cmpop, first: Value, second: Value, node: ast.AST) -> Value:
        """Return the comparison of two values."""
        return self.as_value(self.operator(_COMPARED[type(op)], [first, second], node=node), node)

    def _of_IfExp(self, node: ast.IfExp) -> Any:
        condition = self.condition(node.test)
        if condition.known is not None:
            return self.expression(node.body if condition.known else node.orelse)
        return self._chosen(
            condition, lambda: self.value(node.body), lambda: self.value(node.orelse), node, "if-expression"
        )

    def _chosen(self, condition: Condition, first: Any, second: Any, node: ast.AST, what: str = "") -> Value:
        made = Node("prim::If", [condition.value], self.place)
        before, values = self.scope, []
        for make, types in ((first, condition.holds), (second, condition.fails)):
            self.scope = before.inner()
            with self.inside(made):
                self.refine(types)
                values.append(make())
                self.block.outputs.append(values[-1])
        self.scope = before
        kind = unify(values[0].kind, values[1].kind)
        if kind is None:
            raise self.source.error(
                node, f"{what} has type {values[0].kind} in one branch and {values[1].kind} in the other"
            )
        self.block.nodes.append(made)
        return made.add_output(kind)

    # Conditions

    def condition(self, node: ast.expr) -> Condition:
        """Return an expression as a condition, with what it proves of the types of variables."""
        with self.at(node):
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                inner = self.condition(node.operand)
                known = inner.known
                value = (not known) if known is not None else self.emit("aten::__not__", [inner.value], BOOL)
                return Condition(value, inner.fails, inner.holds)
            if isinstance(node, ast.BoolOp):
                return self._short(list(node.values), isinstance(node.op, ast.And), node)
            if isinstance(node, ast.Compare):
                return self._compared(node)
            if isinstance(node, ast.Call):
                found = self.known_call(node)
                if found is not None:
                    return found
            return Condition(self.as_bool(self.expression(node), node))

    def as_bool(self, given: Any, node: ast.AST) -> Any:
        """Return the truth of a value."""
        if isinstance(given, bool):
            return given
        if isinstance(given, (ModuleValue, Parts)):
            return True
        value = self.as_value(given, node)
        if value.kind == BOOL:
            return value
        if value.kind in (TENSOR, INT, Type("float"), Type("number")):
            return self.emit("aten::Bool", [value], BOOL)
        raise self.source.error(node, f"Could not cast value of type {value.kind} to bool")

    def _short(self, parts: list[ast.expr], conjunction: bool, node: ast.expr) -> Condition:
        first = self.condition(parts[0])
        if len(parts) == 1:
            return first
        if first.known is not None:
            if first.known is not conjunction:
                return first
            self.refine(first.holds if conjunction else first.fails)
            return self._short(parts[1:], conjunction, node)
        rest: list[Condition] = []

        def other() -> Value:
            rest.append(self._short(parts[1:], conjunction, node))
            return self.as_value(rest[0].value, node)

        def plain() -> Value:
            return self.constant(not conjunction)

        value = self._chosen(first, other, plain, node) if conjunction else self._chosen(first, plain, other, node)
        if rest[0].known is conjunction:  # what follows changes nothing
            self.block.nodes.remove(value.node)  # type: ignore[arg-type]
            value = first.value
        if conjunction:
            return Condition(value, {**first.holds, **rest[0].holds}, {})
        return Condition(value, {}, {**first.fails, **rest[0].fails})

    def _compared(self, node: ast.Compare) -> Condition:
        if len(node.ops) > 1:
            pairs = zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
            links: list[ast.expr] = [
                ast.copy_location(ast.Compare(left, [op], [right]), node) for left, op, right in pairs
            ]
            return self._short(links, True, node)
        op, right = node.ops[0], node.comparators[0]
        if isinstance(op, (ast.Is, ast.IsNot)):
            return self._identity(node.left, right, isinstance(op, ast.Is), node)
        if isinstance(op, (ast.In, ast.NotIn)):
            value = self._contains(self.value(node.left), self.expression(right), node)
            return Condition(self.emit("aten::__not__", [value], BOOL) if isinstance(op, ast.NotIn) else value)
        first, second = self.expression(node.left), self.expression(right)
        if (
            isinstance(first, PythonObject)
            and isinstance(second, PythonObject)
            and not isinstance(first.held, (int, str))
        ):
            equal = first.held == second.held
            return Condition(equal if isinstance(op, ast.Eq) else not equal)
        return Condition(
            self.as_bool(self.compare(op, self.as_value(first, node), self.as_value(second, node), node), node)
        )

    def _contains(self, one: Value, among: Any, node: ast.AST) -> Value:
        if isinstance(among, Parts):
            raise NotCompiled("in of modules")
        values = self.as_value(among, node)
        if values.kind.name == "Tuple":
            values = self.make_list(self.unpack(values))
        return self.emit("aten::__contains__", [values, one], BOOL)

    def _identity(self, left: ast.expr, right: ast.expr, positive: bool, node: ast.AST) -> Condition:
        first, second = self.expression(left), self.expression(right)
        if not isinstance(first, Value) or not isinstance(second, Value):

            def held(one: Any) -> Any:
                return one.held if isinstance(one, PythonObject) else one

            nothing = isinstance(first, (ModuleValue, Method, Operator)) or isinstance(
                second, (ModuleValue, Method, Operator)
            )
            if nothing:
                return Condition(not positive)
            if isinstance(first, PythonObject) and isinstance(second, PythonObject):
                return Condition((held(first) is held(second)) is positive)
            first, second = self.as_value(first, node), self.as_value(second, node)
        if second.kind == NONE and first.kind == NONE:
            return Condition(positive)
        asked, name = (first, left) if second.kind == NONE else (second, right)
        if NONE in (first.kind, second.kind) and asked.kind.name not in ("Optional", "Union", "Any"):
            return Condition(not positive)
        name_of = name.id if isinstance(name, ast.Name) else ""
        kind = asked.kind.element if asked.kind.name == "Optional" else asked.kind
        if asked.kind.name == "Union":
            kind = Type("Union", tuple(one for one in asked.kind.args if one != NONE))
        value = self.emit("aten::__is__" if positive else "aten::__isnot__", [first, second], BOOL)
        proved = {name_of: kind} if name_of and NONE in (first.kind, second.kind) else {}
        return Condition(value, {}, proved) if positive else Condition(value, proved, {})

    # Parts

    def _of_JoinedStr(self, node: ast.JoinedStr) -> Value:
        text, given = "", []
        for one in node.values:
            if isinstance(one, ast.Constant):
                text += str(one.value)
            else:
                assert isinstance(one, ast.FormattedValue)
                if one.conversion != -1 or one.format_spec is not None:
                    raise self.source.unsupported(one, "Don't support format specs in f-strings" if one.format_spec else
                                                  "Don't support conversion in JoinedStr")  # fmt: skip
                text += "{}"
                given.append(self.value(one.value))
        return self.emit("aten::format", [self.constant(text), *given], STR)

    def as_text(self, given: Value) -> Value:
        """Return a value as a string."""
        return given if given.kind == STR else self.emit("aten::str", [given], STR)

    def _of_ListComp(self, node: ast.ListComp) -> Value:
        one = node.generators[0]
        if len(node.generators) > 1 or one.ifs:
            raise self.source.unsupported(node, "Comprehension ifs are not supported yet" if one.ifs else
                                          "Only a single generator is currently supported")  # fmt: skip
        over = self.iterable(one.iter)
        before = self.scope
        self.scope = before.inner()
        try:
            if isinstance(over, Parts):
                made = []
                for item in over.items:
                    self._store(one.target, item, node)
                    made.append(self.value(node.elt))
                return self.make_list(made)
            target = self.make_list([], TENSOR)
            loop = Node("prim::Loop", [over.length, self.constant(True)], self.place)
            with self.inside(loop):
                counter = Value(INT)
                self.block.inputs.append(counter)
                self._store(one.target, counter if over.item(None) is None else over.item(counter), node)
                element = self.value(node.elt)
                target.kind = list_of(element.kind)
                self.emit("aten::append", [target, element], target.kind)
                self.block.outputs.append(self.constant(True))
            self.block.nodes.append(loop)
            return target
        finally:
            self.scope = before

    def _of_Subscript(self, node: ast.Subscript) -> Any:
        owner = self.expression(node.value)
        if isinstance(owner, (ModuleValue, Parts)):
            return self.module_item(owner, node.slice, node)
        if isinstance(owner, PythonObject):
            held = owner.held
            if isinstance(held, type) or not isinstance(held, (list, tuple, dict, str)):
                return PythonObject(eval(compile(ast.Expression(node), "", "eval"), self._names_in(node)))
        given = self.as_value(owner, node)
        if given.kind == TENSOR:
            made = self.tensor_indices(given, node.slice, node)
            if isinstance(made, tuple):
                return self.operator("index", list(made), node=node)
            return made
        if isinstance(node.slice, ast.Slice):
            return self.sliced(given, node.slice, node)
        return self.item(given, self.value(node.slice), node)

    def _names_in(self, node: ast.AST) -> dict[str, Any]:
        return {one.id: self._python_name(one.id) for one in ast.walk(node) if isinstance(one, ast.Name)}

    def _of_Attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.expression(node.value), node.attr, node)

    def _of_Call(self, node: ast.Call) -> Any:
        found = self.known_call(node)
        if found is not None:
            return found.value
        return self.call(self.expression(node.func), node)

    def none_of(self, kind: Type) -> Value:
        """Return None as a value that may be of a type."""
        return self.constant(None, optional(kind) if kind != NONE else NONE)
