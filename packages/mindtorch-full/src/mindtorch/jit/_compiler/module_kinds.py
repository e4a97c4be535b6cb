"""Classes of modules: what a module of the program is in code. Modules that are alike share a class."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Iterator
from typing import Any

import mindtorch
from mindtorch.jit._script_module import CompiledModule
from mindtorch.jit._tracing.classes import indented, qualified_name
from mindtorch.jit._tracing.text import is_plain_name, literal
from mindtorch.nn.modules.module import Module

from .annotations import meaning, of_value, type_of_annotation
from .compiled import Compiled, compile_function
from .definitions import method_definition
from .frontend import NotCompiled
from .graph import Node, Value
from .linked import LinkedKind
from .printing import float_text
from .scopes import ModuleValue, Parts
from .types import BOOL, NONE, TENSOR, Type, optional

_OWN = frozenset(vars(Module())) - {"training"}


class ModuleKind:
    """A class of modules in code."""

    def __init__(self, unit: Any, module: Any) -> None:
        self.unit = unit
        self.module = module
        self.cls = type(module)
        self.parameters: list[str] = []
        self.buffers: list[str] = []
        self.attributes: dict[str, Type] = {}
        self.constants: dict[str, Any] = {}
        self.children: dict[str, ModuleKind | LinkedKind] = {}
        self.functions: dict[str, Any] = {}
        self.methods: dict[str, Compiled | None] = {}
        self.name = ""
        self._collect()

    @property
    def type(self) -> Type:
        """The type of the modules."""
        return Type(self.name)

    @property
    def key(self) -> Any:
        """What modules must have in common to share the class."""
        return (
            self.cls, tuple(self.attributes.items()), tuple((name, repr(one)) for name, one in self.constants.items()),
            tuple((name, one.name) for name, one in self.children.items()),
            tuple((name, id(one)) for name, one in self.functions.items()),
        )  # fmt: skip

    def _collect(self) -> None:
        module = self.module
        said = _annotations(self.cls)
        for table, names in ((module._parameters, self.parameters), (module._buffers, self.buffers)):
            for name, value in table.items():
                names.append(name)
                kind = self._said(said.get(name)) or TENSOR
                self.attributes[name] = kind if name in said and kind != TENSOR else NONE if value is None else TENSOR
        self.attributes["training"] = BOOL
        inherits = not any(vars(one).get("__annotations__") for one in self.cls.__mro__ if one is not Module)
        self.attributes["_is_full_backward_hook"] = optional(BOOL) if inherits else NONE
        constants = set(getattr(self.cls, "__constants__", ()))
        constants |= {
            name for name, one in said.items() if typing.get_origin(one) is typing.Final or one is typing.Final
        }
        for name, value in module.__dict__.items():
            if name not in _OWN and name not in self.attributes:
                self._add(name, value, said, constants)
        for name in constants:
            held = getattr(module, name, None)
            of_class = name not in module.__dict__ and hasattr(module, name)
            if of_class and not isinstance(held, (Module, mindtorch.Tensor)) and self._value_kind(held) is not None:
                self.constants[name] = held
        for name, child in module._modules.items():
            if child is None:
                self.attributes[name] = NONE
            else:
                self.children[name] = self.unit.module_kind(child)

    def _add(self, name: str, value: Any, said: dict[str, Any], constants: set[str]) -> None:
        if name in constants:
            self.constants[name] = value
        elif name in said and self._said(said[name]) is not None:
            self.attributes[name] = self._said(said[name])  # type: ignore[assignment]
        elif inspect.isfunction(value) or inspect.isbuiltin(value) or (callable(value) and not isinstance(value, Module) and (
                hasattr(value, "__name__"))):  # fmt: skip
            self.functions[name] = value
        else:
            kind = self._value_kind(value)
            if kind is not None:
                self.attributes[name] = kind

    def _value_kind(self, value: Any) -> Type | None:
        try:
            return of_value(value, self.unit.class_type)
        except (NotCompiled, RuntimeError):
            return None

    def _said(self, annotation: Any) -> Type | None:
        if annotation is None or isinstance(annotation, str):
            return None
        try:
            return type_of_annotation(annotation, self.unit.class_type)
        except (NotCompiled, RuntimeError):
            return None

    def definition(self, name: str) -> Any:
        """Return what is compiled for a method: the program's own, or what stands for one of this package."""
        return method_definition(self.cls, name)

    def method(self, name: str) -> Compiled:
        """Return a method, compiled."""
        if name in self.methods:
            found = self.methods[name]
            if found is None:
                raise RuntimeError(
                    f"method '{self.cls.__name__}.{name}' is called recursively. Recursive calls are not supported"
                )
            return found
        function = self.definition(name)
        if function is None:
            function = getattr(self.module, name, None)
            function = getattr(function, "__func__", function)
        if function is None or not callable(function):
            raise RuntimeError(f"Module '{self.cls.__name__}' has no attribute '{name}'")
        self.methods[name] = None
        try:
            made = compile_function(self.unit, function, name, self.type, lambda value: ModuleValue(self, value))
        except RuntimeError as error:
            if str(function.__module__).startswith(("torch.", "mindtorch.")):
                what = f"{function.__module__}.{function.__qualname__}"
                raise NotCompiled(f"{what} has no definition that compiles: {error}") from error
            raise
        finally:
            del self.methods[name]
        self.methods[name] = made
        return made

    def compile_exported(self) -> None:
        """Compile `forward` and what the class exports."""
        names = ["forward"] if self._has_forward() else []
        for name in dir(self.cls):
            held = inspect.getattr_static(self.cls, name, None)
            if str(getattr(held, "_torchscript_modifier", "")).startswith("export"):
                names.append(name)
        for name in names:
            self.method(name)

    def _has_forward(self) -> bool:
        if self.definition("forward") is not None:
            return True
        forward = getattr(self.module, "forward", None)
        function = getattr(forward, "__func__", forward)
        missing = Module.__dict__.get("forward")
        return function is not None and function is not missing and not self.unit.marked(function).startswith("unused")

    def text(self) -> str:
        """Return the class in code."""
        short = self.name.rpartition(".")[2]
        lines = [
            f"class {short}(Module):",
            f"  __parameters__ = [{''.join(f'{literal(one)}, ' for one in self.parameters)}]",
            f"  __buffers__ = [{''.join(f'{literal(one)}, ' for one in self.buffers)}]",
        ]
        kinds = {**{name: str(kind) for name, kind in self.attributes.items()},
                 **{name: child.name for name, child in self.children.items()}}  # fmt: skip
        if not all(map(is_plain_name, kinds)):
            lines.append("  __annotations__ = []")
        lines += [f"  {one} : {kind}" if is_plain_name(one) else f"  __annotations__[{literal(one)}] = {kind}"
                  for one, kind in kinds.items()]  # fmt: skip
        for name, value in self.constants.items():
            kind = of_value(value, self.unit.class_type)
            if kind is not None and value is not None and is_plain_name(name):
                lines.append(f"  {name} : Final[{kind}] = {_constant(value)}")
        text = "\n".join(lines) + "\n"
        for method in self.methods.values():
            if method is not None:
                text += indented(method.text(self.name))
        return text


def _constant(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        inner = (
            "".join(f"{_constant(one)}, " for one in value)
            if isinstance(value, tuple)
            else ", ".join(map(_constant, value))
        )
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}]"
    if isinstance(value, str):
        return literal(value)
    return float_text(value) if isinstance(value, float) else repr(value)


def _annotations(cls: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in reversed(cls.__mro__):
        if one in (object, Module):
            continue
        module = inspect.getmodule(one)
        names = {**vars(typing), **(vars(module) if module else {})}
        for name, said in vars(one).get("__annotations__", {}).items():
            try:
                found[name] = meaning(said, names)
            except RuntimeError:
                continue  # a name that only type checkers see: the value's own type counts
    return found


class Modules:
    """The classes of modules of a unit, and calls of them."""

    free_name: Any
    placed: Any
    _result: Any
    marked: Any

    def __init__(self) -> None:
        self._kinds: dict[Any, ModuleKind] = {}
        self._of_module: dict[int, ModuleKind | LinkedKind] = {}
        self._linked: dict[str, LinkedKind] = {}

    def kinds(self) -> list[ModuleKind]:
        """Return all classes."""
        return list(self._kinds.values())

    def module_kind(self, module: Any) -> ModuleKind | LinkedKind:
        """Return the class of a module."""
        module = getattr(module, "_stands_for", module)
        found = self._of_module.get(id(module))
        if found is None and isinstance(module, CompiledModule):
            linked = LinkedKind(self, module._as_code())
            found = self._of_module[id(module)] = self._linked.setdefault(linked.name, linked)
        if found is None:
            made = ModuleKind(self, module)
            found = self._kinds.setdefault(made.key, made)
            if found is made:
                made.name = self.free_name(qualified_name(made.cls))
            self._of_module[id(module)] = found
        return found

    def children_of(self, state: Any, owner: ModuleValue, node: ast.AST) -> Iterator[Any]:
        """Return what a loop over a list of modules gives."""
        kind = owner.kind
        if not isinstance(kind.module, (mindtorch.nn.ModuleList, mindtorch.nn.Sequential, mindtorch.nn.ModuleDict)):
            raise state.source.error(node, "Only constant Sequential, ModuleList, ModuleDict, or ParameterList can be used as "
                                     "an iterable")  # fmt: skip
        for name in kind.children:
            if isinstance(kind.module, mindtorch.nn.ModuleDict):
                yield state.constant(name)
            else:
                yield state.module_attribute(owner, name, node)

    def call_module(
        self, state: Any, owner: ModuleValue, args: list[Any], kwargs: dict[str, Any], node: ast.AST
    ) -> Any:
        """Put a call of a module into a graph."""
        module = owner.kind.module
        if module._forward_hooks or module._forward_pre_hooks:
            raise NotCompiled("hooks of modules")
        return self.call_module_method(state, owner, "forward", args, kwargs, node)

    def call_module_method(
        self, state: Any, owner: ModuleValue, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.AST
    ) -> Any:
        """Put a call of a method of a module into a graph."""
        kind: ModuleKind | LinkedKind = owner.kind
        if isinstance(kind.module, mindtorch.nn.ModuleDict) and name in ("keys", "values", "items"):
            values = [state.module_attribute(owner, one, node) for one in kind.children]
            names = [state.constant(one) for one in kind.children]
            pairs = zip(names, values, strict=True)
            return Parts(tuple(names if name == "keys" else values if name == "values" else map(Parts, pairs)))
        mark = self.marked(getattr(kind.cls, name, None))
        if mark in ("ignore", "unused"):
            raise NotCompiled(f"a call of a method that is marked as {mark}")
        made = kind.method(name)
        given = self.placed(state, made.arguments, args, kwargs, node, name)
        call = Node("prim::CallMethod", [owner.value, *given], state.place, name=name, _made=made)
        return self._result(state, call, made.returns)

    def call_property(self, state: Any, owner: ModuleValue, name: str, held: property, node: ast.AST) -> Value:
        """Put a read of a property into a graph: it is a call of the method that reads it."""
        raise NotCompiled("properties of modules")
