"""Modules and objects of compiled classes."""

import copy
import enum
import functools
import io
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar

from mindtorch._tracing_state import recorder
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.tensor_base import TensorBase

_writing = LazyModule("mindtorch.jit._writing", "only programs that save a compiled module need it")


class ScriptModule(Module):
    """A compiled module: one that was traced or scripted, or that `torch.jit.load` returned.

    >>> model = torch.jit.script(torch.nn.Sequential(torch.nn.ReLU()))
    >>> isinstance(model, torch.jit.ScriptModule), model(torch.tensor([-1.0, 2.0]))
    (True, tensor([0., 2.]))
    """


class Declared:
    """What the code of a class declares: its methods and constants, and the names of its attributes."""

    def __init__(self) -> None:
        self.members: dict[str, Any] = {}
        self.attributes: set[str] = {"training"}
        self.ordered: list[str] = []
        """The attributes that the code declares, in its order."""
        self.parameters: frozenset[str] = frozenset()
        self.buffers: frozenset[str] | None = None
        """None in archives of before PyTorch 1.5, where every other tensor is a buffer."""


class ScriptObject:
    """An object of a class that an archive's code declares."""

    _declared: ClassVar[Declared]
    _program: ClassVar[Any]
    _qualified_name: ClassVar[str]

    def _set_state(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


class CompiledModule(ScriptModule):
    """A module whose class and methods are code of TorchScript, run in Python."""

    _declared: ClassVar[Declared]
    _program: ClassVar[Any]
    _qualified_name: ClassVar[str]
    original_name: ClassVar[str]

    def _code_itself(self) -> Any:
        """Return the module of compiled code that this one is. Raises where it is not compiled."""
        return self

    def _as_code(self) -> Any:
        return self

    @property
    def code(self) -> str:
        """The text of `forward`."""
        return str(self._program.source_of(self._qualified_name, "forward"))

    @property
    def graph(self) -> Any:
        """Raises NotImplementedError: code runs in Python, without a graph."""
        raise NotImplementedError("ScriptModule.graph: code of TorchScript runs in Python, without a graph; see `code`")

    inlined_graph = graph

    def save(self, f: Any, _extra_files: Any = None) -> None:
        """Write the module's code and state to a file, as an archive that `torch.jit.load` reads.

        Args:
            f: the name of the file, or a file object that is written to.
            _extra_files: texts or bytes that are kept beside it, by name.
        """
        _writing.save_module(self, f, _extra_files)

    def save_to_buffer(self, _extra_files: Any = None) -> bytes:
        """Return the archive that `save` writes."""
        file = io.BytesIO()
        _writing.save_module(self, file, _extra_files)
        return file.getvalue()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = memo[id(self)] = type(self).__new__(type(self))
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made

    def __copy__(self) -> Any:
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError(
            f"Tried to serialize object {self._qualified_name} which does not have a __getstate__ method defined!"
        )

    def extra_repr(self) -> str:
        """Return the name of the class that was compiled."""
        return f"original_name={self.original_name}"


class RecursiveScriptModule(CompiledModule):
    """A module that an archive holds, or that was compiled.

    `original_name` is the name of the class that was compiled, `code` the text of `forward`.
    """

    def _set_state(self, state: dict[str, Any]) -> None:
        """Take the attributes that the archive holds; tensors become parameters and buffers as the class lists them."""
        parameters, buffers = self._declared.parameters, self._declared.buffers
        for name, value in state.items():
            if isinstance(value, Module):
                self.add_module(name, value)
            elif name in parameters:
                self.register_parameter(name, _as_parameter(value))
            elif isinstance(value, TensorBase) if buffers is None else name in buffers:
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def _get_name(self) -> str:
        return "RecursiveScriptModule"


def entry(program: Any, owner: str, function: FunctionType) -> Callable[..., Any]:
    """Return a method as programs call it: with arguments of the declared types, and one call of a trace that runs."""

    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        signature = program.signature(owner, function.__name__)
        active = recorder()
        if active is not None:
            return active.call_method(self, signature, args, kwargs, functools.partial(function, self))
        return function(self, *signature.bind(args, kwargs))

    return call


def get_attribute(value: Any, name: str) -> Any:
    """Return what code of an archive means by `value.name`: what the code of the value's class declares, nothing else."""
    declared = getattr(type(value), "_declared", None)
    if isinstance(declared, Declared):
        member = declared.members.get(name)
        if isinstance(member, FunctionType):
            return member.__get__(value)
        if name in declared.attributes:
            return _own_attribute(value, name, member)
    elif (isinstance(value, tuple) and name in getattr(value, "_fields", ())) or (
        isinstance(value, enum.Enum) and name in ("name", "value")
    ):
        return getattr(value, name)
    raise AttributeError(f"'{type(value).__name__}' object has no attribute or method '{name}' in TorchScript")


_MACHINERY = frozenset(vars(Module())) - {"training"} | {"_declared", "_program", "_qualified_name"}
"""What a module keeps in attributes for itself."""


def _own_attribute(value: Any, name: str, constant: Any) -> Any:
    """Return what an object holds itself: what its class has in Python, methods among them, is nothing to code of a file."""
    held = vars(value)
    if name not in _MACHINERY:
        tables = (
            [held.get(one, {}) for one in ("_parameters", "_buffers", "_modules")] if isinstance(value, Module) else []
        )
        for table in (held, *tables):
            if name in table:
                return table[name]
        if constant is not None:
            return constant
    raise AttributeError(f"'{type(value).__name__}' object has no attribute '{name}' in TorchScript")


def set_attribute(value: Any, name: str, new: Any) -> None:
    """Give an object of an archive's class an attribute that the class declares."""
    declared = getattr(type(value), "_declared", None)
    if not isinstance(declared, Declared) or name not in declared.attributes or name in _MACHINERY:
        raise AttributeError(f"'{type(value).__name__}' object has no attribute '{name}' in TorchScript")
    setattr(value, name, new)


def _as_parameter(value: Any) -> Any:
    return Parameter(value.detach(), requires_grad=value.requires_grad) if isinstance(value, TensorBase) else value


ScriptModule.__module__ = RecursiveScriptModule.__module__ = "torch.jit._script"
ScriptObject.__module__ = "torch"
