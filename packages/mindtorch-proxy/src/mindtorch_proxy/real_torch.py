"""Looks for a real torch: one that could be imported, or one that was, and by whom."""

import sys
import warnings
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from types import ModuleType

from mindtorch_proxy.finder import find_elsewhere
from mindtorch_proxy.names import OURS, THEIRS, is_torch_name, torch_entries


class RealTorchImportedError(ImportError):
    """The proxy was asked to take the name `torch`, which the real torch holds already in this process."""


def find_real_torch() -> ModuleSpec | None:
    """Return the spec of a real torch that an import would find without the proxy, else None.

    A directory called `torch` without code (a namespace package) is not torch.
    """
    spec = find_elsewhere(THEIRS)
    return spec if spec is not None and spec.origin is not None else None


def imported_real_torch() -> ModuleType | None:
    """Return the real torch of this process when it has been imported, else None."""
    module = sys.modules.get(THEIRS)
    if module is None or module is sys.modules.get(OURS):
        return None
    return module


def refusal(module: ModuleType) -> RealTorchImportedError:
    """Return the error for installing the proxy after ``module``, the real torch, was imported."""
    where = getattr(module, "__file__", None) or "an unknown place"
    importer = _importer()
    by = f", imported by {importer}" if importer else ""
    return RealTorchImportedError(
        f"cannot install the MindTorch proxy: the real torch is already imported from {where}{by}. "
        "Install the proxy before that import (`mindtorch run`, `python -m mindtorch`, "
        "`python -m mindtorch_proxy enable-site`), or pass replace=True to set the real torch aside meanwhile.",
        name=THEIRS,
        path=getattr(module, "__file__", None),
    )


def warn_of_holders(packages: Iterable[str] | None) -> None:
    """Warn of each module that imported the real torch before and keeps it, at the line of that import.

    Args:
        packages: only modules of these packages, None for all.
    """
    if imported_real_torch() is None:
        return
    for name, _ in _holders(None if packages is None else tuple(packages)):
        file = getattr(sys.modules.get(name), "__file__", None)
        line = _import_line(file) if file else None
        where = f" ({file}:{line})" if line else ""
        text = f"module {name!r}{where} imported the real torch before the MindTorch proxy was turned on and keeps it"
        warnings.warn_explicit(text, RuntimeWarning, file or name, line or 1)


def _holders(packages: tuple[str, ...] | None = None) -> list[tuple[str, bool]]:
    """Return the modules, of these packages or all, that hold a module of the real torch; and if each came before torch."""
    held: list[tuple[str, bool]] = []
    torch_modules = {id(module) for module in torch_entries().values() if module is not None}
    seen = False
    for name, module in sys.modules.copy().items():
        if name.startswith(THEIRS) and is_torch_name(name):
            seen = True
        elif packages is not None and not any(name == one or name.startswith(one + ".") for one in packages):
            continue
        elif isinstance(module, ModuleType) and not torch_modules.isdisjoint(map(id, list(vars(module).values()))):
            held.append((name, not seen))
    return held


def _importer() -> str | None:
    """Return the module that most likely imported torch first, as "'name' (file:line)".

    A module enters ``sys.modules`` before its code runs, so the importer stands before torch, and the nearest one
    before it that holds a torch module is the best guess; if torch was imported inside a function, the first later
    holder is.
    """
    held = _holders()
    if not held:
        return None
    before = [name for name, early in held if early]
    name = before[-1] if before else held[0][0]
    file = getattr(sys.modules[name], "__file__", None)
    if not file:
        return f"{name!r}"
    line = _import_line(file)
    return f"{name!r} ({file}:{line})" if line else f"{name!r} ({file})"


def _import_line(file: str) -> int | None:
    """Return the number of the first line of ``file`` that reads like an import of torch."""
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            for number, line in enumerate(source, start=1):
                match line.split(maxsplit=2):
                    case ["import" | "from", name, *_] if is_torch_name(name.rstrip(",;")):
                        return number
    except OSError:
        return None
    return None
