"""Give public classes and functions the module names users of torch see.

``torch.nn.Linear.__module__`` must read ``torch.nn.modules.linear`` in reprs, messages and pickles, although the
class is defined in ``mindtorch.nn.modules.linear``. Every surface module calls :func:`adopt` once, at its end;
this also gives the module torch's text for names it lacks.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

_OURS = "mindtorch"
_THEIRS = "torch"


def torch_name(module_name: str) -> str:
    """Return the name under which torch users know ``module_name`` (``mindtorch.nn`` -> ``torch.nn``)."""
    if module_name == _OURS or module_name.startswith(_OURS + "."):
        return _THEIRS + module_name[len(_OURS) :]
    return module_name


def adopt(namespace: dict[str, Any]) -> None:
    """Rewrite ``__module__`` of the classes and functions that belong to ``namespace`` (pass ``globals()``).

    To a module belong what it defines, what it took from a private sibling (``nn.modules._hooks`` for
    ``nn.modules.module``) and, for a package, what it took from its own submodules (``nn.functional.loss`` for
    ``nn.functional``). Everything else, and what an earlier call named, keeps its name.
    """
    own = namespace["__name__"]
    parent = own.rpartition(".")[0]
    for value in list(namespace.values()):
        if isinstance(value, (type, FunctionType)) and _belongs(value.__module__, own, parent):
            value.__module__ = torch_name(own)
    namespace.setdefault("__getattr__", missing_attribute(own))


def missing_attribute(module_name: str) -> Callable[[str], NoReturn]:
    """Return a module's ``__getattr__`` that reports a missing attribute under the name torch users know."""
    shown = torch_name(module_name)

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(f"module {shown!r} has no attribute {name!r}")

    return __getattr__


def _belongs(defined_in: str | None, own: str, parent: str) -> bool:
    if defined_in is None:
        return False
    if defined_in == own or defined_in.startswith(own + "."):
        return True
    package, _, leaf = defined_in.rpartition(".")
    return package == parent and leaf.startswith("_")
