"""`torch.package.importer`: where modules come from, and under which names objects are found there."""

from __future__ import annotations

import logging
import pickle
from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any

from mindtorch._naming import adopt

from ._importlib import import_external
from ._mangling import demangle, get_mangle_prefix, is_mangled

__all__ = ["Importer", "ObjMismatchError", "ObjNotFoundError", "OrderedImporter"]

log = logging.getLogger("torch.package.importer")
_REFUSALS = (AttributeError, LookupError, RuntimeError, TypeError, ValueError, pickle.PickleError)
_MAIN = ("__main__", "__mp_main__")


class ObjNotFoundError(Exception):
    """An importer has nothing under an object's name.

    >>> torch.package.sys_importer.get_name(lambda x: x)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    torch.package.importer.ObjNotFoundError: <function <lambda> at ...> was not found as __main__.<lambda>
    """


class ObjMismatchError(Exception):
    """An importer has another object under an object's name.

    >>> issubclass(torch.package.ObjMismatchError, Exception)
    True
    """


def find(module: ModuleType, name: str) -> Any:
    """Return what a dotted name means in a module."""
    found: Any = module
    for part in name.split("."):
        if part == "<locals>":
            raise AttributeError(f"Can't get local attribute {name!r} on {module!r}")
        found = getattr(found, part)
    return found


def _reduced_name(obj: Any) -> str | None:
    """The name that an object's `__reduce__` gives for it, None of most objects."""
    reduce = getattr(obj, "__reduce__", None)
    if reduce is None or isinstance(obj, type):
        return None
    try:
        made = reduce()
    except _REFUSALS:  # an object that cannot be taken apart has its own name at most
        return None
    return made if isinstance(made, str) else None


class Importer(ABC):
    """An environment that modules are imported from: what `get_name` answers, `import_module` finds again.

    >>> torch.package.sys_importer.import_module("math").floor(2.5)
    2
    >>> isinstance(torch.package.sys_importer, torch.package.Importer)
    True
    """

    modules: dict[str, ModuleType]

    @abstractmethod
    def import_module(self, module_name: str) -> ModuleType:
        """Return the module of that name."""

    def get_name(self, obj: Any, name: str | None = None) -> tuple[str, str]:
        """Return the module that an object is in, and its name there.

        Args:
            name: taken in place of the object's own.

        Raises:
            ObjNotFoundError: there is no such object.
            ObjMismatchError: there is another one.
        """
        if name is None and obj and type(obj) not in pickle._Pickler.dispatch:
            name = _reduced_name(obj)
        if name is None:
            name = getattr(obj, "__qualname__", None) or obj.__name__
        module_name = demangle(self.whichmodule(obj, name))
        try:
            found = find(self.import_module(module_name), name)
        except (ImportError, KeyError, AttributeError):
            raise ObjNotFoundError(f"{obj} was not found as {module_name}.{name}") from None
        if found is not obj:
            raise ObjMismatchError(self._mismatch(obj, found, name))
        return module_name, name

    def _mismatch(self, obj: Any, found: Any, name: str) -> str:
        given, there = self.whichmodule(obj, name), self.whichmodule(found, name)
        return (
            f"\n\nThe object provided is from '{given}', which is coming from {_place(given)}."
            f"\nHowever, when we import '{there}', it's coming from {_place(there)}."
            f"\nTo fix this, make sure this 'PackageExporter's importer lists {_importer(given)} before "
            f"{_importer(there)}."
        )

    def whichmodule(self, obj: Any, name: str) -> str:
        """Return the name of the module that an object belongs to."""
        module_name = getattr(obj, "__module__", None)
        if module_name is not None:
            return module_name
        for module_name, module in list(self.modules.items()):
            if module_name in _MAIN or module is None:
                continue
            try:
                if find(module, name) is obj:
                    return module_name
            except AttributeError:
                continue  # not in this one
        return _MAIN[0]


def _place(module_name: str) -> str:
    return get_mangle_prefix(module_name) if is_mangled(module_name) else "the current Python environment"


def _importer(module_name: str) -> str:
    return f"the importer for {get_mangle_prefix(module_name)}" if is_mangled(module_name) else "'sys_importer'"


class _SysImporter(Importer):
    """Python's own import system."""

    def import_module(self, module_name: str) -> ModuleType:
        return import_external(module_name)

    def whichmodule(self, obj: Any, name: str) -> str:
        return getattr(obj, "__module__", None) or pickle.whichmodule(obj, name)  # type: ignore[attr-defined]


sys_importer = _SysImporter()


class OrderedImporter(Importer):
    """Several importers; the first one that has something is right.

    >>> import torch.package
    >>> torch.package.sys_importer.import_module("math").__name__
    'math'
    """

    def __init__(self, *args: Importer) -> None:
        self._importers = list(args)

    def _is_torchpackage_dummy(self, module: ModuleType) -> bool:
        """Whether a module is a folder in a package without code of its own: another importer may have the code."""
        in_package = getattr(module, "__torch_package__", False) and hasattr(module, "__path__")
        return bool(in_package) and getattr(module, "__file__", None) is None

    def get_name(self, obj: Any, name: str | None = None) -> tuple[str, str]:
        """Return the name that the first importer has for an object."""
        for importer in self._importers:
            try:
                return importer.get_name(obj, name)
            except (ObjNotFoundError, ObjMismatchError) as error:
                log.warning(
                    "Tried to call get_name with obj %s, and name %s on %s and got %s", obj, name, importer, error
                )
        raise ObjNotFoundError(f"Could not find obj {obj} and name {name} in any of the importers {self._importers}")

    def import_module(self, module_name: str) -> ModuleType:
        """Return the module of the first importer that has it."""
        missing: ModuleNotFoundError | None = None
        for importer in self._importers:
            if not isinstance(importer, Importer):
                raise TypeError(
                    f"{importer} is not a Importer. All importers in OrderedImporter must inherit from Importer."
                )
            try:
                module = importer.import_module(module_name)
            except ModuleNotFoundError as error:
                missing = error
                continue
            if not self._is_torchpackage_dummy(module):
                return module
        raise missing or ModuleNotFoundError(module_name)

    def whichmodule(self, obj: Any, name: str) -> str:
        """Return the name of the module that the first importer finds an object in."""
        names = (importer.whichmodule(obj, name) for importer in self._importers)
        return next((found for found in names if found != _MAIN[0]), _MAIN[0])


adopt(globals())
