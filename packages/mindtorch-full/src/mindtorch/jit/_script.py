"""`torch.jit.script`: functions and modules that have code.

A scripted function runs its compiled code. A scripted module stands for copies of the modules that it was made of, which
have their tensors, and runs them in Python: it is trained, moved and evaluated on its own, and its attributes are those that
TorchScript has types for. It is compiled when it is made, for what is wrong in it, and when its code is asked for.
"""

from __future__ import annotations

import copy
import enum
import functools
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from mindtorch._tracing_state import recorder
from mindtorch.jit import _marks
from mindtorch.jit._recursive import _prepare_scriptable
from mindtorch.jit._script_function import ScriptFunction
from mindtorch.jit._script_module import RecursiveScriptModule, ScriptModule
from mindtorch.jit._warnings import TracerWarning
from mindtorch.nn.modules.module import Module
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.tensor_base import TensorBase

_TYPED = (bool, int, float, complex, str, type(None), TensorBase, Device, dtype, enum.Enum)
_making = LazyModule("mindtorch.jit._compiler.making", "only programs that ask for code need the compiler")


def script(obj: Any) -> Any:
    """Return what `torch.jit.script` makes of a function, module or class.

    Raises:
        RuntimeError: a class of modules.
        TypeError: a value that is no function.
    """
    if isinstance(obj, (ScriptFunction, ScriptModule)):
        return obj
    if isinstance(obj, Module):
        made = _scripted(_counterpart(_prepare_scriptable(obj, {}), {}), {})
        if isinstance(made, ScriptedModule):
            made._compile()
        return made
    if isinstance(obj, type):
        if issubclass(obj, Module):
            raise RuntimeError(
                f"Type '{obj}' cannot be compiled since it inherits from nn.Module, pass an instance instead"
            )
        return obj
    if isinstance(obj, (list, dict)):
        return obj
    if not callable(obj) or isinstance(obj, types.BuiltinFunctionType):
        raise TypeError(f"{type(obj)} is a built-in class")
    return ScriptedFunction._of_python(obj)


def _compiled_or_why(compile: Callable[[], Any]) -> Any:
    """Return what is compiled, or the error that says why it is not and that is raised when its code is asked for.

    Raises what torch, too, would not compile.
    """
    try:
        return compile()
    except Exception as error:
        if getattr(error, "certain", False):
            raise
        return error


class ScriptedFunction(ScriptFunction):
    """A function that is compiled. One that this compiler cannot compile runs in Python, and has no code."""

    def _compile(self) -> Any:
        found = self.__dict__["_compiled_form"]
        if isinstance(found, Exception):
            raise found
        return found

    @property
    def _program(self) -> Any:
        return self._compile()[0]

    @property
    def graph(self) -> Any:
        """The graph of the function."""
        return self._compile()[1].graph

    @property
    def inlined_graph(self) -> Any:
        """The graph, with those of the functions that it calls in their place."""
        return _making.inlined(self._compile()[1].graph)

    @property
    def code(self) -> str:
        """The text of the function."""
        program, made = self._compile()
        return str(program.function_source(made.name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = self.__dict__["_compiled_form"]
        if not isinstance(found, Exception):
            return super().__call__(*args, **kwargs)
        if recorder() is not None:
            _warn_of_python(self.name, found)
        return self._function(*args, **kwargs)

    @property
    def _signature(self) -> Any:
        program, made = self._compile()
        return program.signature(made.name, "", made.inferred)

    @classmethod
    def _of_python(cls, function: Callable[..., Any]) -> ScriptedFunction:
        made = object.__new__(cls)
        found = _compiled_or_why(lambda: _making.compile_python(function))
        made.__dict__["_compiled_form"] = found
        made._function = function if isinstance(found, Exception) else found[0].find(found[1].name)
        made.name = getattr(function, "__name__", type(function).__name__)
        module = str(getattr(function, "__module__", "__main__"))
        made.qualified_name = ".".join(["__torch__", *([] if module == "__main__" else [module]), made.name])
        made.__dict__.update(
            __name__="ScriptFunction",
            __qualname__="torch.jit.ScriptFunction",
            __doc__=function.__doc__,
            _torchdynamo_inline=function,
        )
        return made


def _warn_of_python(name: str, why: Exception) -> None:
    warnings.warn(
        f"{name} is scripted, but runs in Python: its branches and counts of loops are constants of the trace. The compiler "
        f"says: {why}",
        TracerWarning,
        stacklevel=3,
    )


def _counterpart(module: Any, made: dict[int, Any]) -> Any:
    """Return a copy of a module and of those in it, with the same tensors."""
    if id(module) in made:
        return made[id(module)]
    if isinstance(module, ScriptModule):
        return module
    kind: Any = type(module)
    counterpart = made[id(module)] = kind.__new__(kind)
    for name, value in module.__dict__.items():
        counterpart.__dict__[name] = copy.copy(value) if isinstance(value, (list, dict, set)) else value
    for name, child in module._modules.items():
        counterpart.__dict__["_modules"][name] = None if child is None else _counterpart(child, made)
    return counterpart


def _scripted(counterpart: Any, made: dict[int, Any]) -> Any:
    if isinstance(counterpart, ScriptModule):
        return counterpart
    if id(counterpart) not in made:
        module = made[id(counterpart)] = ScriptedModule.__new__(ScriptedModule)
        module._stand_for(counterpart)
        for name, child in counterpart._modules.items():
            if child is not None:
                module._modules[name] = _scripted(child, made)
    return made[id(counterpart)]


def _is_typed(value: Any) -> bool:
    """Whether TorchScript has a type for a value."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_typed, value))
    if isinstance(value, dict):
        return all(map(_is_typed, value)) and all(map(_is_typed, value.values()))
    return isinstance(value, _TYPED)


def _methods(kind: type) -> set[str]:
    """Return the names of the methods that compiling a class compiles: `forward`, those it exports, and what these call."""
    marks = {name: getattr(getattr(kind, name, None), "_torchscript_modifier", None) for name in dir(kind)}
    found, left = set(), ["forward", *(name for name, mark in marks.items() if mark is not None)]
    while left:
        name = left.pop()
        method = getattr(kind, name, None)
        if name in found or not isinstance(method, types.FunctionType):
            continue
        found.add(name)
        if not str(marks.get(name) or "").startswith(("ignore", "unused")):
            left += [one for one in method.__code__.co_names if one not in vars(Module)]
    return found


class ScriptedModule(RecursiveScriptModule):
    """A module that runs in Python: it stands for a module of the program's own class."""

    _stands_for: Any

    @property
    def code(self) -> str:
        """The text of `forward`."""
        form = self._compiled_form()
        return str(form.program.source_of(form.kind.name, "forward"))

    @property
    def graph(self) -> Any:
        """The graph of `forward`."""
        return self._compiled_form().kind.method("forward").graph

    @property
    def inlined_graph(self) -> Any:
        """The graph, with those of the methods that it calls in their place."""
        return _making.inlined(self.graph)

    def save(self, f: Any, _extra_files: Any = None) -> None:
        """Write the module to a file, as an archive that `torch.jit.load` reads."""
        self._code_itself().save(f, _extra_files)

    def save_to_buffer(self, _extra_files: Any = None) -> bytes:
        """Return the archive that `save` writes."""
        return bytes(self._code_itself().save_to_buffer(_extra_files))

    def _code_itself(self) -> Any:
        return self._compiled_form().module()

    def _compile(self) -> Any:
        """Return what was compiled of the module when that was first asked for, or the error that says why nothing was."""
        own = self.__dict__
        if own["_form"] is None:
            own["_form"] = _compiled_or_why(lambda: _making.CompiledOnce(self._stands_for))
        return own["_form"]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        # A copy is compiled anew: classes are found by their modules' addresses.
        memo[id(self.__dict__["_form"])] = None
        return super().__deepcopy__(memo)

    def _compiled_form(self) -> Any:
        form = self._compile()
        if isinstance(form, Exception):
            raise form
        return form

    def _as_code(self) -> Any:
        """Return the module of compiled code, None where it is not compiled."""
        form = self._compile()
        if isinstance(form, Exception):
            _warn_of_python(self.original_name, form)
            return None
        return form.module()

    def _signature(self, name: str) -> Any:
        """Return what a method takes, None where it is not compiled."""
        signatures = self.__dict__["_signatures"]
        if name not in signatures:
            form = self._compile()
            made = None if isinstance(form, Exception) else form.kind.methods.get(name)
            signatures[name] = made and form.program.signature(form.kind.name, name, made.inferred)
        return signatures[name]

    def _entry(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method as programs call it: with arguments of its types, and one call of a trace that runs."""
        signature = self._signature(name)
        if signature is None:
            return function

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            active = recorder()
            if active is None:
                return function(*signature.bind(args, kwargs))
            return active.call_method(self, signature, args, kwargs, function)

        return call

    def _stand_for(self, counterpart: Any) -> None:
        Module.__init__(self)
        own = self.__dict__
        own["_stands_for"] = counterpart
        own["_compiled"] = _methods(type(counterpart))
        own["_form"] = None
        for table in ("_parameters", "_buffers", "_non_persistent_buffers_set"):
            own[table] = counterpart.__dict__[table]
        own["_signatures"] = {}
        own["original_name"] = type(counterpart).__name__
        own["_qualified_name"] = f"__torch__.{type(counterpart).__name__}"
        del own["training"]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the module, with its hooks."""
        return self._entry("forward", self._run)(*args, **kwargs)

    def _run(self, *args: Any) -> Any:
        with _marks.scripting():
            return self._stands_for(*args)

    def __getattr__(self, name: str) -> Any:
        counterpart = self.__dict__.get("_stands_for")
        for table in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(table, ()):
                return self.__dict__[table][name]
        if counterpart is not None:
            if name in counterpart.__dict__ or _is_annotated(type(counterpart), name):
                value = getattr(counterpart, name)
                if _is_typed(value):
                    return value
            elif name in self.__dict__["_compiled"]:
                return self._entry(name, getattr(counterpart, name))
            elif _is_constant(type(counterpart), name):
                return getattr(counterpart, name)
        raise AttributeError(f"'RecursiveScriptModule' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        counterpart = self.__dict__.get("_stands_for")
        tables = counterpart is not None and any(
            name in self.__dict__[one] for one in ("_parameters", "_buffers", "_modules")
        )
        if counterpart is None or (not tables and name not in counterpart.__dict__):
            super().__setattr__(name, value)
            return
        form = self._compile()
        if not tables and not isinstance(form, Exception):
            value = form.fitting(name, value)
        setattr(counterpart, name, value._stands_for if isinstance(value, ScriptedModule) else value)
        if name in self._modules:
            self._modules[name] = value

    def __len__(self) -> int:
        return len(self._of_container("len()"))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._of_container("iteration"))

    def __getitem__(self, index: Any) -> Any:
        return self._of_container("a subscript")[index]

    def __contains__(self, value: Any) -> bool:
        return value in self._of_container("in")

    def __bool__(self) -> bool:
        return True

    def _of_container(self, what: str) -> Any:
        counterpart = self._stands_for
        if not hasattr(type(counterpart), "__len__"):
            raise NotImplementedError(f"{self.original_name} has no {what}")
        return counterpart


def _is_annotated(kind: type, name: str) -> bool:
    """Whether a class says the type of a name; reading `__annotations__` off a class would give it an empty table."""
    return any(name in vars(one).get("__annotations__", ()) for one in kind.__mro__)


def _is_constant(kind: type, name: str) -> bool:
    """Whether a class gives a name a value that TorchScript has a type for, or a property."""
    return any(
        name in vars(one) and (isinstance(vars(one)[name], property) or _is_typed(vars(one)[name]))
        for one in kind.__mro__
        if one is not object and one is not Module
    )


for _class in (ScriptedModule, ScriptedFunction):
    _base = _class.__mro__[1]
    _class.__name__, _class.__qualname__, _class.__module__ = _base.__name__, _base.__qualname__, _base.__module__
