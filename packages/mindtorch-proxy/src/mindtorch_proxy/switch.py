"""Turning the proxy on and off."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import RLock

from mindtorch_proxy.companions import CompanionFinder, companion_entries
from mindtorch_proxy.finder import TorchFinder, loaded_mindtorch_modules, mindtorch_is_installed
from mindtorch_proxy.loaders import take_off
from mindtorch_proxy.names import DISTRIBUTION, OURS, torch_entries
from mindtorch_proxy.real_torch import imported_real_torch, refusal, warn_of_holders
from mindtorch_proxy.scope import Importing, Scope

# Guards the count. Not the finder's own lock: turning on asks other finders, which takes the global import lock, and a
# thread inside the finder holds that one already.
_lock = RLock()
_finder = TorchFinder()
_companions = CompanionFinder()
_count = 0
_changing = False  # turning on or off
_set_aside: dict[str, object] = {}
_importing = Importing(_set_aside, lambda: _count > 0)


def install(*, replace: bool = False) -> None:
    """Make `import torch` resolve to MindTorch, until as many calls of :func:`uninstall`.

    Args:
        replace: when the real torch is imported already, set it aside and put it back at the end instead of refusing.
            Modules that hold the real torch keep it.

    Raises:
        RealTorchImportedError: the real torch is imported already; the text names where, and by whom if that is known.
        ModuleNotFoundError: the package `mindtorch` is not installed.
    """
    global _count
    with _lock:
        if _count == 0:
            _turn_on(replace)
        _count += 1


def uninstall() -> None:
    """Take back one :func:`install`; the last one makes `import torch` what it was before the first.

    Raises:
        RuntimeError: the proxy is not installed.
    """
    global _count
    with _lock:
        if _count == 0:
            raise RuntimeError("mindtorch_proxy.uninstall(): the proxy is not installed")
        _count -= 1
        if _count == 0:
            _turn_off()


def is_installed() -> bool:
    """Return whether `import torch` resolves to MindTorch in this process."""
    return _count > 0


@contextmanager
def proxy(
    packages: Iterable[str] | None = None, *, blocked: Iterable[str] = (), replace: bool = False
) -> Iterator[None]:
    """`import torch` resolves to MindTorch inside the block; nests, and restores ``sys.modules`` on every way out.

    Args:
        packages: only for code of these packages; for all other code, and in ``sys.modules``, torch stays what it is,
            and a real torch may be imported before or meanwhile. Modules that are loaded already keep the torch they
            have; one that holds the real torch gives a warning with its file and line.
        blocked: never for code of these packages: they get the real torch that was set aside, or none.
        replace: as for :func:`install`.

    Raises:
        TypeError: ``packages`` or ``blocked`` is a string.
        RealTorchImportedError, ModuleNotFoundError: as :func:`install`.
    """
    scope = Scope(None if packages is None else _names("packages", packages), _names("blocked", blocked))
    if scope.packages is None:
        install(replace=replace)
    else:
        _check_mindtorch()
        warn_of_holders(scope.packages)
    listening = scope.packages is not None or bool(scope.blocked)
    try:
        if listening:
            _importing.enter(scope)
        try:
            yield
        finally:
            if listening:
                _importing.leave(scope)
    finally:
        if scope.packages is None:
            uninstall()


def _names(argument: str, given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError(f"proxy(): {argument} must be several names of packages, got the string {given!r}")
    return tuple(given)


def _check_mindtorch() -> None:
    if not mindtorch_is_installed():
        raise ModuleNotFoundError(
            f"cannot install the MindTorch proxy: no module named {OURS!r} (pip install {DISTRIBUTION})", name=OURS
        )


def _turn_on(replace: bool) -> None:
    global _changing
    _check_mindtorch()
    real = imported_real_torch()
    if real is not None and not replace:
        raise refusal(real)
    if real is not None:
        warn_of_holders(None)
    _changing = True
    _set_aside.update({**torch_entries(), **companion_entries()})
    for name in _set_aside:
        sys.modules.pop(name, None)
    # A new list, here and below: another thread may be walking the old one, and would skip a finder.
    sys.meta_path = [_finder, _companions, *sys.meta_path]
    _finder.activate(True)
    for name in loaded_mindtorch_modules():
        _finder.mirror(name)
    _changing = False


def _turn_off() -> None:
    global _changing
    _changing = True
    _finder.activate(False)
    sys.meta_path = [finder for finder in sys.meta_path if finder not in (_finder, _companions)]
    for name in {**torch_entries(), **companion_entries()}:
        sys.modules.pop(name, None)
    for name in loaded_mindtorch_modules():
        take_off(sys.modules[name])
    sys.modules.update(_set_aside)  # type: ignore[arg-type]
    _changing = False
    _set_aside.clear()


def _after_fork_in_child() -> None:
    # Not held during the fork: a fork has Python's import lock, for which a thread that turns on may wait. Where one was
    # in the middle of that, the child is left without the proxy.
    global _lock, _count
    _finder.lock = RLock()
    if _lock.acquire(blocking=False):
        _lock.release()
        return
    _lock = RLock()
    if _changing:
        _turn_off()
        _count = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
