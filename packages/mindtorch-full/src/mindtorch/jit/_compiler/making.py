"""Compiled functions and modules as programs, and as what an archive of them holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.jit._linking import linked_module
from mindtorch.jit._script_module import RecursiveScriptModule
from mindtorch.jit._tracing.classes import program_of
from mindtorch.nn.modules.module import Module

from .annotations import of_value
from .compiled import Compiled
from .graph_inlining import inlined as inlined
from .linked import LinkedKind
from .types import BOOL, FLOAT, INT, NONE, goes_for
from .unit import Unit


def compile_python(function: Callable[..., Any]) -> tuple[Any, Compiled]:
    """Return the program of a function and what was compiled of it."""
    unit = Unit()
    made = unit.function(function)
    return program_of(unit.files(), unit.constants, unit.linker.kinds), made


class CompiledOnce:
    """A module of the program as it was compiled: its class, and modules of that code with the values that it has by then."""

    def __init__(self, module: Any) -> None:
        self._unit = Unit()
        self._module = module
        self._compiled = list(module.modules())  # kept: classes are found by the modules' addresses
        self.kind = self._unit.module_kind(module)
        for one in self._compiled:
            self._unit.module_kind(one).compile_exported()
        self.program = program_of(self._unit.files(), self._unit.constants, self._unit.linker.kinds)

    def fitting(self, name: str, value: Any) -> Any:
        """Return the value that an attribute gets when a program gives it `value`.

        Raises RuntimeError for a value that is not of the attribute's type.
        """
        wanted = self.kind.attributes.get(name)
        found = of_value(value, self._unit.class_type)
        if wanted is None or found is None or goes_for(found, wanted):
            return value
        if (wanted, found) in ((FLOAT, INT), (FLOAT, BOOL), (INT, BOOL)):
            return float(value) if wanted == FLOAT else int(value)
        why = f"Cannot cast {value} to None" if wanted == NONE else (
            f"Unable to cast Python instance of type {type(value)} to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or "
            "compile in debug mode for details)"
        )  # fmt: skip
        raise RuntimeError(f"Could not cast attribute '{name}' to type {wanted}: {why}")

    def module(self) -> Any:
        """Return the module of compiled code, with the tensors and values that the program's module has now."""
        return _made(self._unit, self._module, self.program, {})


def _made(unit: Unit, module: Any, program: Any, known: dict[int, Any]) -> Any:
    if id(module) in known:
        return known[id(module)]
    kind = unit.module_kind(module)
    if isinstance(kind, LinkedKind):
        code = getattr(module, "_stands_for", module)._as_code()
        known[id(module)] = linked_module(code, program, unit.linker.bring(code._program))
        return known[id(module)]
    made: RecursiveScriptModule = program.find(kind.name).__new__(program.find(kind.name))
    known[id(module)] = made
    Module.__init__(made)
    made._parameters.update(module._parameters)  # of a frozen module, they are plain tensors
    made._buffers.update(module._buffers)
    made._non_persistent_buffers_set.update(module._non_persistent_buffers_set)
    for name in kind.attributes:
        if name not in module._parameters and name not in module._buffers and name not in module._modules:
            made.__dict__[name] = getattr(module, name, None)
    for name, child in module._modules.items():
        made.add_module(name, None if child is None else _made(unit, child, program, known))
    return made
