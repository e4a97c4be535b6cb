"""Give public classes and functions the module names users of torch see.

``torch.nn.Linear.__module__`` must read ``torch.nn.modules.linear`` in reprs, messages and pickles, although the
class is defined in ``mindtorch.nn.modules.linear``. Every surface module calls :func:`adopt` once, at its end;
this also gives the module torch's text for names it lacks.
"""

import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from mindtorch_storage.annotations import bind_annotations
from mindtorch_storage.lazy_import import REASONS, LazyModule

from ._homes import reduce_ex

_TABLE = "mindtorch._absence"
_absence = LazyModule(_TABLE, "only names that are not there need its table")
_bound = LazyModule("mindtorch._bound_submodules", "only names that are not there need its table")

_OURS = "mindtorch"
_THEIRS = "torch"


def torch_name(module_name: str) -> str:
    """Return the name under which torch users know ``module_name`` (``mindtorch.nn`` -> ``torch.nn``)."""
    if module_name == _OURS or module_name.startswith(_OURS + "."):
        return _THEIRS + module_name[len(_OURS) :]
    return module_name


def adopt(namespace: dict[str, Any], shown: str | None = None) -> None:
    """Rewrite ``__module__`` of the classes and functions that belong to ``namespace`` (pass ``globals()``).

    ``shown`` is the name of another module of torch that users find them in.

    To a module belong what it defines, what it took from a private sibling (``nn.modules._hooks`` for
    ``nn.modules.module``) and, for a package, what it took from its own submodules (``nn.functional.loss`` for
    ``nn.functional``). Everything else, and what an earlier call named, keeps its name.
    """
    own = namespace["__name__"]
    parent = own.rpartition(".")[0]
    for value in list(namespace.values()):
        if isinstance(value, (type, FunctionType)) and _belongs(value.__module__, own, parent):
            if isinstance(value, type):
                bind_annotations(value, value.__module__)
            value.__module__ = shown or torch_name(own)
            if isinstance(value, type) and value.__reduce_ex__ is object.__reduce_ex__:
                value.__reduce_ex__ = reduce_ex  # type: ignore[assignment]
    namespace.pop("adopt", None)  # no name of torch
    namespace["__getattr__"] = missing_attribute(own, namespace.get("__getattr__"))
    namespace.setdefault("__dir__", lambda: names_of(own, namespace, namespace.get("__all__", ())))


def missing_attribute(module_name: str, own: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """Return a module's ``__getattr__``: what ``own`` finds, else a submodule, or what stands for a name that is not offered.

    A name that torch lacks too is reported under the module name that users know.
    """
    shown = torch_name(module_name)

    def __getattr__(name: str) -> Any:
        if own is not None:
            try:
                return own(name)
            except AttributeError:
                if absent(shown, name) is None:
                    raise
        found = absent(shown, name)
        if found is None:
            raise AttributeError(f"module {shown!r} has no attribute {name!r}")
        return found

    return __getattr__


def names_of(module_name: str, *known: Iterable[str]) -> list[str]:
    """Return what `dir` lists of a module: the names in `known`, and those that are made when they are first asked for.

    torch binds its submodules when it is imported, and programs look through them; those that are not offered are listed, too.
    """
    package = module_name + "."
    submodules = {name for full in REASONS if full.startswith(package) and "." not in (name := full[len(package) :])}
    shown = torch_name(module_name)
    return sorted(submodules.union(_absence.names(shown), _bound.names(shown), *known))


def absent(shown: str, name: str) -> Any:
    """Return what stands for a name that torch has and this library does not offer or a submodule that torch has bound.

    Of every other name it is None. Names with two underscores are asked for by the import system, of every module.
    """
    if name.startswith("__"):
        return None
    found = _bound.submodule(shown, name)
    if found is None:
        found = _absence.placeholder(shown, name)
    if found is not None:
        vars(sys.modules[_OURS + shown[len(_THEIRS) :]])[name] = found
    return found


class AbsentModules:
    """The last finder of the import system: it knows modules of torch that are there for their names alone."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Return a spec for such a module, None for every other name."""
        if not fullname.startswith(_OURS + ".") or fullname == _TABLE:
            return None
        return _absence.AbsentModules().find_spec(fullname, path, target)

    def invalidate_caches(self) -> None:
        """Do nothing: the finder keeps nothing."""


def _belongs(defined_in: str | None, own: str, parent: str) -> bool:
    if defined_in is None:
        return False
    if defined_in == own or defined_in.startswith(own + "."):
        return True
    package, _, leaf = defined_in.rpartition(".")
    return package == parent and leaf.startswith("_")
