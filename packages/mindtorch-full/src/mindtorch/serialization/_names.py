"""The names under which checkpoints know our objects.

Files say ``torch._utils _rebuild_tensor_v2``; the object lives in ``mindtorch._utils``. Reading translates towards our
modules whatever ``torch`` means in this process, so a file never makes real torch run; writing translates back, so
real torch reads our files.
"""

from __future__ import annotations

import copyreg
import importlib
import importlib.util
import pickle
import sys
from types import BuiltinFunctionType, FunctionType
from typing import Any, ClassVar

from mindtorch._homes import reduce_ex
from mindtorch_cpu.generator import Generator
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import get_layout
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import memory_format as MemoryFormat
from mindtorch_storage.lazy_import import load
from mindtorch_storage.qscheme import qscheme as QScheme
from mindtorch_storage.size import Size
from mindtorch_storage.storage import LEGACY_CLASSES

_OURS = "mindtorch"
_THEIRS = "torch"
# Modules that older releases of torch pickled from.
_MOVED = {"torch.tensor": "torch._tensor"}
# What defines the value types does not matter to a file: it knows them as members of `torch`.
_VALUE_TYPE_PACKAGE = "mindtorch_storage"


def is_torch_name(module: str) -> bool:
    """True for ``torch`` and its submodules."""
    return module == _THEIRS or module.startswith(_THEIRS + ".")


def our_module_name(module: str) -> str:
    """The module of ours that answers for a module named in a file."""
    module = _MOVED.get(module, module)
    return _OURS + module[len(_THEIRS) :] if is_torch_name(module) else module


def resolve(module: str, name: str) -> Any:
    """The object a file means by ``module name``, dots in the name included."""
    if module == _THEIRS and name in LEGACY_CLASSES:
        return LEGACY_CLASSES[name]
    found: Any = _import(module)
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise AttributeError(f"Can't get attribute {name!r} on module {module!r}") from None
    return found


def _import(module: str) -> Any:
    ours = our_module_name(module)
    found = sys.modules.get(ours)
    if found is None and sys.modules.get(_THEIRS) is sys.modules.get(_OURS):
        found = sys.modules.get(module)  # one that a program put below `torch`, of its own or of PyTorch's tests
    if found is not None:
        return found
    try:
        return load(ours)
    except ModuleNotFoundError as error:
        if error.name == ours and ours != module:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module) from None
        raise


def torch_name_of(obj: Any, name: str | None) -> tuple[str, str] | None:
    """How a file names this class, function or singleton; None when it is none of ours."""
    if obj is get_layout:
        return "torch.serialization", "_get_layout"
    module = getattr(obj, "__module__", None)
    if not isinstance(module, str):
        return None
    name = name or getattr(obj, "__qualname__", None) or obj.__name__
    if module == _OURS or module.startswith(_OURS + "."):
        module = _THEIRS + module[len(_OURS) :]
    elif module.startswith(_VALUE_TYPE_PACKAGE):
        module = _THEIRS
    elif not is_torch_name(module):
        return None
    try:
        found = resolve(module, name)
    except (AttributeError, ImportError):
        found = None
    if found is not obj:
        raise pickle.PicklingError(f"Can't pickle {obj!r}: it's not found as {module}.{name}")
    return module, name


def _reduce_layout(value: Layout) -> tuple[Any, ...]:
    return get_layout, (repr(value),)


def _reduce_device(value: Device) -> tuple[Any, ...]:
    return Device, (value.type,) if value.index is None else (value.type, value.index)


_VALUE_TYPES: dict[type, Any] = {
    Dtype: lambda value: value.name,
    Device: _reduce_device,
    Layout: _reduce_layout,
    QScheme: lambda value: repr(value).partition(".")[2],
    MemoryFormat: lambda value: repr(value).partition(".")[2],
    Size: lambda value: (Size, (tuple(value),)),
}


def _why_not(obj: Any, name: str | None) -> str:
    """Why a file cannot refer to this, in the words of the C pickler."""
    name = name or getattr(obj, "__qualname__", obj.__name__)
    module = pickle.whichmodule(obj, name)  # type: ignore[attr-defined]
    reason = f"attribute lookup {name} on {module} failed"
    if module not in sys.modules and importlib.util.find_spec(module) is None:
        reason = f"import of module {module!r} failed"
    return f"Can't pickle {obj!r}: {reason}"


class TorchPickler(pickle._Pickler):
    """A pickler that writes the names of torch, in processes where ``torch`` is not importable too.

    It is the Python one: the C pickler checks every global by importing the module it names.
    """

    dispatch: ClassVar[dict[type, Any]] = dict(pickle._Pickler.dispatch)

    def reducer_override(self, obj: Any) -> Any:
        """Value types pickle by their name in torch, whatever their own ``__reduce__`` prefers in this process."""
        if type(obj) is Generator:  # its own way is for processes without a module of that name
            return Generator, (obj.device,), obj.__reduce__()[2]
        reduce = _VALUE_TYPES.get(type(obj))
        if reduce is not None:
            return reduce(obj)
        if type(obj).__reduce_ex__ is reduce_ex and type(obj) not in copyreg.dispatch_table:  # so is this one
            return object.__reduce_ex__(obj, self.proto)
        return NotImplemented

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write a reference to a class, function or singleton."""
        found = torch_name_of(obj, name)
        if found is None:
            if "<locals>" in (name or getattr(obj, "__qualname__", "")):
                raise AttributeError(f"Can't pickle local object {obj.__qualname__!r}")
            try:
                super().save_global(obj, name)
            except pickle.PicklingError:
                raise pickle.PicklingError(_why_not(obj, name)) from None
            return
        self.write_global(*found)
        self.memoize(obj)

    def write_global(self, module: str, name: str) -> None:
        """Write the name of an object of a module."""
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())

    def save_type(self, obj: type) -> None:
        """Write a reference to a class; the singleton types of Python have their own form."""
        if obj in (type(None), type(NotImplemented), type(...)):
            super().save_type(obj)
        else:
            self.save_global(obj)

    dispatch[FunctionType] = save_global
    dispatch[BuiltinFunctionType] = save_global
    dispatch[type] = save_type
