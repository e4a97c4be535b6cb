"""Compiled functions and modules as programs, and as what an archive of them holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.jit._linking import linked_module
from mindtorch.jit._script_module import RecursiveScriptModule
from mindtorch.jit._tracing.classes import program_of
from mindtorch.nn.modules.module import Module

from .compiled import Compiled
from .graph_inlining import inlined as inlined
from .linked import LinkedKind
from .unit import Unit


def compile_python(function: Callable[..., Any]) -> tuple[Any, Compiled]:
    """Return the program of a function and what was compiled of it."""
    unit = Unit()
    made = unit.function(function)
    return program_of(unit.files(), unit.constants, unit.linker.kinds), made


def compile_module(module: Any) -> tuple[Any, Any]:
    """Return the module of compiled code for one of the program, with the same tensors and values, and its class."""
    unit = Unit()
    kind = unit.module_kind(module)
    for one in module.modules():
        unit.module_kind(one).compile_exported()
    program = program_of(unit.files(), unit.constants, unit.linker.kinds)
    return _made(unit, module, program, {}), kind


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
