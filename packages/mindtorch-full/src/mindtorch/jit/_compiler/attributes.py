"""Attributes: of tensors, of modules and objects of the program, and of things of Python."""

from __future__ import annotations

import ast
import types as python_types
from collections.abc import Callable
from typing import Any

import mindtorch

from .frontend import NotCompiled
from .graph import Node, Value
from .items import Items
from .plain_schemas import ATTRIBUTES
from .scopes import Method, Missing, ModuleValue, Operator, Parts, PythonObject
from .types import INT, TENSOR, Type, goes_for, list_of

_PREFIXES = {"torch.linalg": "linalg_", "torch.special": "special_", "torch.fft": "fft_"}
_OPERATORS = frozenset(("torch", "torch.nn.functional", "torch._C._nn", "torch._VF", "torch.functional", "torch._C"))


class Attributes(Items):
    """Compiles attributes."""

    def attribute(self, owner: Any, name: str, node: ast.AST) -> Any:
        """Return what `owner.name` means."""
        if isinstance(owner, PythonObject):
            return self._of_python(owner, name, node)
        if isinstance(owner, ModuleValue):
            return self.module_attribute(owner, name, node)
        if isinstance(owner, Operator):
            if owner.name.startswith("*"):
                return Operator(name, owner.namespace) if owner.namespace else Operator("*", name)
            return owner  # an overload by its name
        if isinstance(owner, (Method, Missing, Parts, bool)):
            raise self.source.error(node, f"cannot take the attribute '{name}' of this")
        assert isinstance(owner, Value)
        return self._of_value(owner, name, node)

    def _of_value(self, owner: Value, name: str, node: ast.AST) -> Any:
        kind = owner.kind
        if kind == TENSOR:
            if name == "shape":
                made = Node("aten::size", [owner], self.place)
                self.block.nodes.append(made)
                return made.add_output(list_of(INT))
            if name in ATTRIBUTES:
                return self.emit(f"prim::{name}", [owner], ATTRIBUTES[name])
            if name == "ndim":
                return self.operator("dim", [owner])
            if name in ("real", "imag"):
                return self.operator(name, [owner])
        fields = self.unit.field_names(kind)
        if fields and name in fields:
            return self.unpack(owner)[fields.index(name)]
        if kind.name.startswith("__torch__."):
            found = self.unit.attribute_of(self, owner, name, node)
            if found is not None:
                return found
        elif self._has_method(kind, name):
            return Method(owner, name)
        shown = str(kind)
        if kind == TENSOR and owner in self.graph.inputs and "_inferred" in self.unit.inferred(self.source, owner):
            shown = "Tensor (inferred)"
        raise self.source.error(node, f"'{shown}' object has no attribute or method '{name}'.")

    def _has_method(self, kind: Type, name: str) -> bool:
        return self.unit.has_method(kind, name)  # type: ignore[no-any-return]

    def _of_python(self, owner: PythonObject, name: str, node: ast.AST) -> Any:
        held = owner.held
        if held is mindtorch.ops:
            return Operator("*", name)
        if isinstance(held, python_types.ModuleType):
            module = _spelling(held)
            if held.__name__ == "mindtorch.ops":
                return Operator("*", name)
            found = self._operator_of(module, held, name)
            if found is not None:
                return found
        try:
            return PythonObject(getattr(held, name), f"{owner.path}.{name}")
        except AttributeError:
            what = "module" if isinstance(held, python_types.ModuleType) else type(held).__name__
            raise self.source.error(node, f"{what} has no attribute '{name}'") from None

    def _operator_of(self, module: str, held: Any, name: str) -> Any:
        if module == "math" and name not in ("pi", "e", "inf", "nan", "tau"):
            return Operator(name)
        prefix = _PREFIXES.get(module, "")
        if not prefix and module not in _OPERATORS:
            return None
        value = getattr(held, name, None)
        plain = callable(value) and not isinstance(value, (type, python_types.ModuleType))
        if not plain and name not in ("tensor", "device"):
            return None
        if self.unit.definition_of(value) is not None:
            return PythonObject(value, name)
        for short in (f"{prefix}{name}", *((name,) if prefix else ())):
            if self.unit.is_operator(short):
                return Operator(short)
        return None

    # Modules

    def module_attribute(self, owner: ModuleValue, name: str, node: ast.AST) -> Any:
        """Return what an attribute of a module of the program means."""
        kind = owner.kind
        if name in kind.children:
            child = kind.children[name]
            return ModuleValue(
                child, self.emit("prim::GetAttr", [owner.value], child.type, hint=_hint(name), name=name)
            )
        if name in kind.attributes:
            return self.emit("prim::GetAttr", [owner.value], kind.attributes[name], hint=_hint(name), name=name)
        if name in kind.constants:
            return PythonObject(kind.constants[name], name)
        if name in kind.functions:
            return PythonObject(kind.functions[name], name)
        held = getattr(kind.cls, name, None)
        if isinstance(held, property):
            return self.unit.call_property(self, owner, name, held, node)
        if isinstance(held, staticmethod) or isinstance(vars(kind.cls).get(name), staticmethod):
            return PythonObject(held, name)
        if callable(held) or kind.definition(name) is not None:
            return Method(owner, name)  # type: ignore[arg-type]
        value = getattr(kind.module, name, None)
        if held is not None and not callable(held):
            return PythonObject(held, name)
        if value is None and not hasattr(kind.module, name):
            raise self.source.error(node, f"Module '{kind.cls.__name__}' has no attribute '{name}' ")
        raise self.source.error(
            node,
            f"Module '{kind.cls.__name__}' has no attribute '{name}' (This attribute exists on the Python module, but we failed "
            f"to convert Python type: '{type(value).__name__}' to a TorchScript type. Its type was not recognized)",
        )

    def set_attribute(self, target: ast.Attribute, given: Value, node: ast.AST) -> None:
        """Give a module or an object of the program an attribute."""
        owner: Any = self._owner(target)
        kind = self.unit.attributes_of(owner)
        value = owner.value if isinstance(owner, ModuleValue) else owner
        if target.attr not in kind:
            if not isinstance(owner, ModuleValue) and self.unit.is_initialising(self, owner):
                kind[target.attr] = given.kind
            else:
                what = f"'{value.kind}' object" if not isinstance(owner, ModuleValue) else "module"
                raise self.source.error(
                    node, f"Tried to set an attribute: {target.attr} on {what} that has no such attribute"
                )
        wanted = kind[target.attr]
        made = given if goes_for(given.kind, wanted) else self.converted(given, wanted)
        if made is None:
            raise self.source.error(
                node, f"Wrong type for attribute assignment. Expected {wanted} but got {given.kind}"
            )
        self.block.nodes.append(Node("prim::SetAttr", [value, made], self.place, name=target.attr))

    expression: Callable[..., Any]

    def _owner(self, target: ast.Attribute) -> Any:
        owner = self.expression(target.value)
        if isinstance(owner, (ModuleValue, Value)):
            return owner
        raise NotCompiled("an attribute of something of Python is set")

    def module_item(self, owner: Any, part: ast.expr, node: ast.AST) -> Any:
        """Return `modules[index]` of a list of modules, or a slice of one."""
        children = (
            list(self.unit.children_of(self, owner, node)) if isinstance(owner, ModuleValue) else list(owner.items)
        )
        try:
            place = ast.literal_eval(part) if not isinstance(part, ast.Slice) else slice(
                *(None if one is None else ast.literal_eval(one) for one in (part.lower, part.upper, part.step)))  # fmt: skip
        except ValueError:
            raise self.source.error(
                node, "Expected integer literal for index. ModuleList/Sequential indexing is only supported with integer "
                "literals. For example, 'i = 4; self.layers[i](x)' will fail because i is not a literal. Enumeration is "
                "supported, e.g. 'for index, v in enumerate(self): out = v(inp)'") from None  # fmt: skip
        if isinstance(place, str):
            return self.module_attribute(owner, place, node)
        return Parts(tuple(children[place])) if isinstance(place, slice) else children[place]


def _hint(name: str) -> str:
    return name if not name.isdigit() else f"_{name}"


def _spelling(module: Any) -> str:
    return str(module.__name__).replace("mindtorch", "torch", 1)
