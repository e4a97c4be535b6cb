"""The proxy for some packages only: who imports decides which torch an import gives.

`sys.modules` holds one `torch`, so a scope does not touch it. It answers earlier: an import statement is a call of
``builtins.__import__`` with the importer's globals, and an importer of the scope that asks for `torch.x` is given
`mindtorch.x`. A real torch, imported or not, is there for everybody else. `importlib.import_module` and
`importlib.util.find_spec` are answered in the same way, by the module that calls them.
"""

import builtins
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import RLock
from types import ModuleType
from typing import Any, TypeVar

from mindtorch_proxy.names import OURS, is_mindtorch_name, is_torch_name, to_mindtorch, to_torch

_T = TypeVar("_T")

OURS_GIVEN, ANOTHER, AS_FOUND = "ours", "another", "as found"
"""What an importer of torch gets: MindTorch, the torch that is not MindTorch, or whatever `sys.modules` says."""


class Scope:
    """The packages that get MindTorch (None: nothing is said of the others) and those that never do."""

    def __init__(self, packages: tuple[str, ...] | None, blocked: tuple[str, ...]) -> None:
        self.packages = packages
        self.blocked = blocked

    def answer(self, importer: str) -> str:
        """Return what a module called ``importer`` gets."""
        if _within(importer, self.blocked):
            return ANOTHER
        if self.packages is not None and _within(importer, self.packages):
            return OURS_GIVEN
        return AS_FOUND


def _within(name: str, packages: Iterable[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


class Importing:
    """Answers imports by importer while at least one scope is entered.

    Args:
        set_aside: the modules of a real torch that were taken out of `sys.modules`; blocked importers get them.
        ours_is_torch: whether the name `torch` is MindTorch's for everybody now.
    """

    def __init__(self, set_aside: Mapping[str, object], ours_is_torch: Callable[[], bool]) -> None:
        self._set_aside = set_aside
        self._ours_is_torch = ours_is_torch
        self._lock = RLock()
        self._scopes: tuple[Scope, ...] = ()  # replaced, never changed: importers read it without the lock
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        if hasattr(os, "register_at_fork"):
            release = self._lock.release
            os.register_at_fork(before=self._lock.acquire, after_in_parent=release, after_in_child=release)

    def enter(self, scope: Scope) -> None:
        """Start to answer for ``scope``; the innermost scope that has an answer gives it."""
        with self._lock:
            if not self._scopes:
                self._put_in_place()
            self._scopes = (*self._scopes, scope)

    def leave(self, scope: Scope) -> None:
        """Stop to answer for ``scope``; threads may leave in another order than they entered."""
        with self._lock:
            at = max(index for index, held in enumerate(self._scopes) if held is scope)
            self._scopes = self._scopes[:at] + self._scopes[at + 1 :]
            if not self._scopes:
                self._take_back()

    def _put_in_place(self) -> None:
        for owner, name, make in (
            (builtins, "__import__", self._import_statement),
            (importlib, "import_module", self._import_module),
            (importlib.util, "find_spec", self._find_spec),
        ):
            before = getattr(owner, name)
            ours = make(before)
            setattr(owner, name, ours)
            self._replaced.append((owner, name, before, ours))

    def _take_back(self) -> None:
        for owner, name, before, ours in self._replaced:
            # Somebody who wrapped ours since keeps it; without a scope it passes everything on.
            if getattr(owner, name) is ours:
                setattr(owner, name, before)
        self._replaced.clear()

    def _answer(self, name: Any, importer: str) -> str:
        if not isinstance(name, str) or not is_torch_name(name):
            return AS_FOUND
        for scope in reversed(self._scopes):
            answer = scope.answer(importer)
            if answer != AS_FOUND:
                return answer
        return AS_FOUND

    def _import_statement(self, before: Callable[..., Any]) -> Callable[..., Any]:
        def importing(
            name: str,
            globals: Mapping[str, Any] | None = None,
            locals: Mapping[str, Any] | None = None,
            fromlist: Sequence[str] | None = (),
            level: int = 0,
        ) -> Any:
            answer = AS_FOUND if level else self._answer(name, str((globals or {}).get("__name__")))
            if answer == OURS_GIVEN:
                return _named_as_torch(before, to_mindtorch(name), globals, locals, fromlist, 0)
            if answer == ANOTHER and (found := self._other(name)) is not None:
                return found if fromlist else self._other(name.partition(".")[0])
            return before(name, globals, locals, fromlist, level)

        return importing

    def _import_module(self, before: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
        def import_module(name: str, package: str | None = None) -> ModuleType:
            answer = self._answer(name, _caller())
            if answer == OURS_GIVEN:
                return _named_as_torch(before, to_mindtorch(name))
            found: ModuleType | None = self._other(name) if answer == ANOTHER else None
            return before(name, package) if found is None else found

        return import_module

    def _find_spec(self, before: Callable[..., Any]) -> Callable[..., Any]:
        def find_spec(name: str, package: str | None = None) -> Any:
            answer = self._answer(name, _caller())
            if answer == OURS_GIVEN:
                return before(to_mindtorch(name))
            if answer == ANOTHER and self._ours_is_torch():
                found = self._set_aside.get(name)
                return getattr(found, "__spec__", None)
            return before(name, package)

        return find_spec

    def _other(self, name: str) -> Any:
        """Return the torch that is not ours for a blocked importer; None when an import as usual gives it.

        Raises:
            ModuleNotFoundError: the name `torch` is MindTorch's, and no other torch was set aside for it.
        """
        if not self._ours_is_torch():
            return None
        found = self._set_aside.get(name)
        if found is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found


def _caller() -> str:
    """Return the name of the module that called the function this is called from."""
    return str(sys._getframe(2).f_globals.get("__name__"))


def _named_as_torch(load: Callable[..., _T], *arguments: Any) -> _T:
    """Return ``load(*arguments)``; a missing module is told by the name that the importer wrote."""
    try:
        return load(*arguments)
    except ModuleNotFoundError as error:
        if error.name is None or error.name == OURS or not is_mindtorch_name(error.name):
            raise
        name = to_torch(error.name)
        raise ModuleNotFoundError(f"No module named {name!r}", name=name) from None
