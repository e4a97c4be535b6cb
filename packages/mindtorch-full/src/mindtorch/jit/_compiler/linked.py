"""What was compiled before and is called: traces, modules that are loaded or traced. Their code becomes part of the unit."""

from __future__ import annotations

import ast
from typing import Any

from mindtorch.jit._signatures import Signature, signature_of

from .schemas import Argument
from .types import Type, parse


class LinkedCode:
    """A function or method that was compiled before: what it takes and gives."""

    graph = None

    def __init__(self, name: str, signature: Signature) -> None:
        self.name = name
        self.arguments = [Argument(one.name, one.kind, one.default, one.required) for one in signature.arguments]
        self.returns = signature.returns
        self.inferred = signature.inferred


def linked_function(unit: Any, function: Any) -> LinkedCode:
    """Return a compiled function as one of the unit."""
    name = unit.linker.bring(function._program)[function.qualified_name]
    return LinkedCode(name, signature_of(name.rpartition(".")[2], unit.linker.definitions[name]))


class LinkedKind:
    """The class of a module that was compiled before."""

    def __init__(self, unit: Any, module: Any) -> None:
        self.module = module
        self.cls = type(module)
        self.name: str = unit.linker.bring(module._program)[module._qualified_name]
        self.constants: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        declared = ast.parse(unit.linker.definitions[self.name]).body[0]
        assert isinstance(declared, ast.ClassDef)
        self._methods = {one.name: one for one in declared.body if isinstance(one, ast.FunctionDef)}
        kinds = dict(_declared(declared))
        self.children = {
            name: unit.module_kind(child)
            for name, child in module._modules.items()
            if child is not None and name in kinds
        }
        self.attributes = {name: kind for name, kind in kinds.items() if name not in self.children}

    @property
    def type(self) -> Type:
        """The type of the modules."""
        return Type(self.name)

    def definition(self, name: str) -> None:
        """Return None: nothing is compiled."""

    def compile_exported(self) -> None:
        """Do nothing: all is compiled."""

    def method(self, name: str) -> LinkedCode:
        """Return a method. Raises RuntimeError where the code has none of this name."""
        if name not in self._methods:
            raise RuntimeError(f"Module '{self.name.rpartition('.')[2]}' has no attribute '{name}'")
        return LinkedCode(name, signature_of(name, ast.unparse(self._methods[name])))


def _declared(declared: ast.ClassDef) -> list[tuple[str, Type]]:
    found = []
    for one in declared.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.value is None:
            found.append((one.target.id, parse(ast.unparse(one.annotation))))
        elif isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Subscript):  # `__annotations__["0"] = Kind`
            found.append((ast.literal_eval(one.targets[0].slice), parse(ast.unparse(one.value))))
    return found
