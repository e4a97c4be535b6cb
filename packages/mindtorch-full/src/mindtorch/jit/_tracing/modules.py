"""Modules and functions that a trace makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.jit._linking import linked_module
from mindtorch.jit._script_function import ScriptFunction
from mindtorch.jit._script_module import CompiledModule
from mindtorch.nn.modules.module import Module

from .classes import Classes, Names, files_of, program_of, qualified_name
from .methods import Method
from .run import Recorded, parameter_names, record


class TracedModule(CompiledModule):
    """A module inside of a traced one. What its methods do is what was recorded."""

    def _get_name(self) -> str:
        return self.original_name


class TopLevelTracedModule(TracedModule):
    """What `torch.jit.trace` makes of a module."""


TracedModule.__module__ = TopLevelTracedModule.__module__ = "torch.jit._trace"


def trace_methods(module: Any, inputs: dict[str, Any], by_name: bool, strict: bool) -> Any:
    """Return the traced module: its methods `inputs` are run, each on its inputs, and recorded."""
    _check(module)
    classes = Classes(module)
    for name, given in inputs.items():
        function = module if name == "forward" else getattr(module, name)
        names = parameter_names(getattr(module, name))
        if by_name and isinstance(given, dict):
            _check_names(given, names)
        found = record(function, given, names, module, classes.space, classes, strict)
        top = found.top(classes.take_method("", name), classes.take_method)
        _add(classes, found, top)
    kinds: dict[str, type] = {classes.names[path]: TracedModule for path in classes.modules}
    kinds[classes.names[""]] = TopLevelTracedModule
    kinds.update(classes.space.linker.kinds)
    program = program_of(classes.files(), classes.space.constants, kinds)
    return _made(module, "", program, classes)


def _add(classes: Classes, found: Recorded, method: Method) -> None:
    path = method.frame.path
    classes.add_method(path, found.text(method, classes.names[path]))
    for step in method.body:
        if isinstance(step, Method):
            _add(classes, found, step)


def _check_names(given: dict[str, Any], names: list[str]) -> None:
    for key in given:
        if key not in names:
            raise NameError(
                f"'{key}' is not in forward() method's arguments,\n                         valid arguments name are "
                f"[{','.join(names)}]"
            )


def _check(module: Any) -> None:
    for one in module.modules():
        if one._backward_hooks:
            raise ValueError(f"Modules that have backward hooks assigned can't be compiled: {one}")
        tensors = [value for value in (*one._parameters.values(), *one._buffers.values()) if value is not None]
        if len(set(map(id, tensors))) < len(tensors):
            raise ValueError("TracedModules don't support parameter sharing between modules")


def _made(module: Any, path: str, program: Any, classes: Classes) -> Any:
    """Return the traced module for one of the original's, with the same tensors."""
    if path in classes.compiled:
        code = classes.compiled[path]
        return linked_module(code, program, classes.space.linker.bring(code._program))
    kind = program.find(classes.names[path])
    made = kind.__new__(kind)
    Module.__init__(made)
    for table, register in ((module._parameters, made.register_parameter), (module._buffers, made.register_buffer)):
        for name, value in table.items():
            if value is not None:
                register(name, value)
    for name, child in module._modules.items():
        if child is not None:
            made.add_module(name, _made(child, f"{path}.{name}" if path else name, program, classes))
    made.training = module.training
    made.__dict__["original_name"] = getattr(module, "original_name", type(module).__name__)
    return made


def trace_function(function: Callable[..., Any], inputs: Any, strict: bool) -> ScriptFunction:
    """Return the traced function."""
    space = Names()
    name = space.free(qualified_name(function))
    found = record(function, inputs, parameter_names(function), None, space, None, strict)
    short = name.rpartition(".")[2]
    text = found.text(found.top(short, lambda path: short), None)
    files = files_of([*space.linker.definitions.items(), (name, text)])
    return ScriptFunction._of(program_of(files, space.constants, space.linker.kinds), name)
