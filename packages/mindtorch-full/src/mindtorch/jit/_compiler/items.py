"""Subscripts, parts of tuples, and what loops run over."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .frontend import NotCompiled
from .graph import Value
from .operators import Operators
from .scopes import Counted, ModuleValue, Parts, PythonObject
from .types import INT, NONE, STR, TENSOR, list_of, optional

_LARGEST = 9223372036854775807


class Items(Operators):
    """Compiles subscripts and iteration."""

    value: Callable[..., Value]
    expression: Callable[..., Any]

    def item(self, owner: Value, key: Value, node: ast.AST) -> Value:
        """Return `owner[key]` of a list, a dict, a string or a tuple."""
        kind = owner.kind
        if kind.name == "Tuple" or self.unit.fields_of(kind):
            parts = self.unpack(owner)
            place = key.node.shown.get("value") if key.node is not None and key.node.name == "prim::Constant" else None
            if not isinstance(place, int):
                raise self.source.error(node, "tuple index must be a compile time constant")
            if not -len(parts) <= place < len(parts):
                raise self.source.error(node, "Tuple index out of range")
            return parts[place]
        if kind.name == "List":
            return self.emit("aten::__getitem__", [owner, key], kind.element)
        if kind.name == "Dict":
            return self.emit("aten::__getitem__", [owner, key], kind.args[1])
        if kind == STR:
            return self.emit("aten::__getitem__", [owner, key], STR)
        found = self.unit.find_method(kind, "__getitem__")
        if found is not None:
            return self.unit.call_method(self, owner, "__getitem__", [key], {}, node)  # type: ignore[no-any-return]
        raise self.source.error(node, f"'{kind}' object is not subscriptable")

    def sliced(self, owner: Value, part: ast.Slice, node: ast.AST) -> Value:
        """Return `owner[start:stop:step]` of a list, a string or a tuple."""
        if owner.kind.name == "Tuple":
            bounds = [None if one is None else ast.literal_eval(one) for one in (part.lower, part.upper, part.step)]
            return self.make_tuple(self.unpack(owner)[slice(*bounds)])
        return self.emit("aten::slice", [owner, *self._bounds(part)], owner.kind)

    def _bounds(self, part: ast.Slice) -> list[Value]:
        lower = self.value(part.lower) if part.lower is not None else None
        upper = self.value(part.upper) if part.upper is not None else None
        step = self.value(part.step) if part.step is not None else None
        return [lower or self.constant(None), upper or self.constant(None), step or self.constant(1)]

    def tensor_item(self, owner: Value, part: ast.expr, node: ast.AST) -> Value:
        """Return a part of a tensor that is a view of it."""
        made = self.tensor_indices(owner, part, node)
        if isinstance(made, tuple):
            return self.operator("index", list(made), node=node)
        return made

    def tensor_indices(self, owner: Value, part: ast.expr, node: ast.AST) -> Any:
        """Return a view of a tensor; a view and a list of indices where tensors are among the indices."""
        parts = list(part.elts) if isinstance(part, ast.Tuple) else [part]
        taken: list[Any] = [self._index(one) for one in parts]
        if len(taken) == 1 and isinstance(taken[0], Value) and taken[0].kind.name == "Tuple":
            taken = list(self.unpack(taken[0]))
        dim: int = 0
        indices: dict[int, Value] = {}
        for place, one in enumerate(taken):
            if one is Ellipsis:
                if any(map(_is_none, taken[place + 1 :])):
                    raise NotCompiled("None after ... in a subscript")
                dim = -len(taken[place + 1 :])
                continue
            if isinstance(one, ast.Slice):
                owner = self.operator("slice", [owner, self.constant(dim), *self._bounds(one)], node=node)
                dim += 1
            elif _is_none(one):
                owner = self.operator("unsqueeze", [owner, self.constant(dim)], node=node)
                dim += 1
            elif one.kind == INT:
                owner = self.operator("select", [owner, self.constant(dim), one], node=node)
                dim += dim < 0
            else:
                if one.kind.name == "List":
                    one = self.operator("tensor", [one], node=node)
                if one.kind not in (TENSOR, optional(TENSOR)):
                    raise self.source.error(
                        node,
                        f"Unsupported operation: indexing tensor with unsupported index type '{one.kind}'. Only ints, slices, "
                        "lists and tensors are supported",
                    )
                indices[dim] = one
                dim += 1
        if not indices:
            return owner
        if min(indices) < 0:
            raise NotCompiled("a tensor for an index after ...")
        nothing = self.constant(None)
        listed = [indices.get(place, nothing) for place in range(max(indices) + 1)]
        kind = optional(TENSOR)
        return owner, self.make_list(listed, kind)

    def _index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            return node
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            return Ellipsis
        return self.value(node)

    def parts_of(self, given: Any, wanted: int, node: ast.AST, starred: bool = False) -> list[Any]:
        """Return what an assignment to several names takes a value apart into."""
        if isinstance(given, Parts):
            return list(given.items)
        value = self.as_value(given, node)
        if value.kind.name == "Tuple" or self.unit.fields_of(value.kind):
            return list(self.unpack(value))
        if value.kind.name == "List" and not starred:
            return self._unpack_list(value, wanted)
        if value.kind == TENSOR:
            raise self.source.error(
                node, "Tensor cannot be used as a tuple" if starred else
                "Provided a tensor where a tuple is needed: Tensor cannot be used as a tuple")  # fmt: skip
        raise self.source.error(node, f"{value.kind} cannot be used as a tuple")

    def _unpack_list(self, value: Value, wanted: int) -> list[Any]:
        from_node = self.emit("prim::ListUnpack", [value], value.kind.element)
        node = from_node.node
        assert node is not None
        return [from_node, *(node.add_output(value.kind.element) for _ in range(wanted - 1))]

    # Iteration

    def iterable(self, node: ast.expr) -> Counted | Parts:
        """Return what a loop over an expression runs over."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in self.scope.names:
            name = node.func.id
            if name == "range":
                return self._range([self.value(one) for one in node.args], node)
            if name == "enumerate":
                start = self.value(node.args[1]) if len(node.args) > 1 else None
                start = next((self.value(one.value) for one in node.keywords if one.arg == "start"), start)
                return self._zipped([self._counting(start), self.iterable(node.args[0])])
            if name == "zip":
                return self._zipped([self.iterable(one) for one in node.args])
            if name == "reversed":
                inner = self.iterable(node.args[0])
                if isinstance(inner, Parts):
                    return Parts(inner.items[::-1])
        return self.iterated(self.expression(node), node)

    def iterated(self, given: Any, node: ast.AST) -> Counted | Parts:
        """Return what a loop over a value runs over."""
        if isinstance(given, Parts):
            return given
        if isinstance(given, ModuleValue):
            return Parts(tuple(self.unit.children_of(self, given, node)))
        if isinstance(given, PythonObject) and isinstance(given.held, (list, tuple)):
            return Parts(tuple(self.constant(one) for one in given.held))
        value = self.as_value(given, node)
        if value.kind.name == "Tuple":
            return Parts(tuple(self.unpack(value)))
        if value.kind.name == "Dict":
            value = self.emit("aten::keys", [value], list_of(value.kind.args[0]))
        if value.kind == STR:
            value = self.emit("aten::list", [value], list_of(STR))
        if value.kind == TENSOR:
            length = self.operator("len", [value])
            return Counted(length, lambda place: self._select(value, place))
        if value.kind.name != "List":
            raise self.source.error(node, f"'{value.kind}' object is not iterable")
        length = self.emit("aten::len", [value], INT)
        of = value.kind.element

        def item(place: Value | None) -> Value | bool:
            return True if place is None else self.emit("aten::__getitem__", [value, place], of)

        return Counted(length, item)

    def _select(self, value: Value, place: Value | None) -> Any:
        return True if place is None else self.operator("select", [value, self.constant(0), place])

    def _range(self, bounds: list[Value], node: ast.AST) -> Counted:
        for one in bounds:
            if one.kind not in (INT, TENSOR):
                raise self.source.error(node, f"Expected a value of type 'int' for argument 'end' but instead found type "
                                        f"'{one.kind}'")  # fmt: skip
        bounds = [one if one.kind == INT else self.emit("aten::IntImplicit", [one], INT) for one in bounds]
        if len(bounds) == 1:
            return Counted(bounds[0], lambda place: None, True)
        start, stop, step = bounds if len(bounds) == 3 else (*bounds, self.constant(1))
        length = self.emit("aten::__range_length", [start, stop, step], INT)

        def item(place: Value | None) -> Value | bool:
            return True if place is None else self.emit("aten::__derive_index", [place, start, step], INT)

        return Counted(length, item)

    def _counting(self, start: Value | None) -> Counted:
        if start is None:
            return Counted(self.constant(_LARGEST), lambda place: None, True)

        def item(place: Value | None) -> Value | bool:
            return True if place is None else self.emit("aten::__derive_index", [place, start, self.constant(1)], INT)

        return Counted(self.constant(_LARGEST), item)

    def _zipped(self, parts: list[Counted | Parts]) -> Counted | Parts:
        fixed = [one for one in parts if isinstance(one, Parts)]
        if fixed:
            count = min(len(one.items) for one in fixed)
            return Parts(tuple(Parts(tuple(self._nth(one, place) for one in parts)) for place in range(count)))
        lengths = [one.length for one in parts if isinstance(one, Counted)]
        length = self.emit("prim::min", [self.make_list(lengths)], INT)

        def item(place: Value | None) -> Any:
            if place is None:
                return True
            return Parts(tuple(place if one.item(None) is None else one.item(place) for one in parts))  # type: ignore[union-attr]

        return Counted(length, item)

    def _nth(self, over: Counted | Parts, place: int) -> Any:
        if isinstance(over, Parts):
            return over.items[place]
        index = self.constant(place)
        return index if over.item(None) is None else over.item(index)


def _is_none(one: Any) -> bool:
    return isinstance(one, Value) and one.kind == NONE
