"""Settings that are attributes of a module.

`torch.backends.cudnn.enabled = False` must be checked and kept. A module with settings gets a class of its own, whose
properties they are; the module object stays the same.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_frozen = False


def disable_global_flags() -> None:
    """Forbid setting flags other than through the `flags()` context managers.

    >>> torch.backends.disable_global_flags.__name__
    'disable_global_flags'
    """
    global _frozen
    _frozen = True


def flags_frozen() -> bool:
    """Return whether :func:`disable_global_flags` has been called.

    >>> torch.backends.flags_frozen()
    False
    """
    return _frozen


@contextmanager
def allow_mutation() -> Iterator[None]:
    """Allow setting flags inside the block, as `flags()` does."""
    global _frozen
    before, _frozen = _frozen, False
    try:
        yield
    finally:
        _frozen = before


@contextmanager
def flags_set(put: Callable[..., tuple[Any, ...]], *values: Any) -> Iterator[None]:
    """Have settings inside the block; `put` takes them in order, and returns those of before."""
    with allow_mutation():
        before = put(*values)
    try:
        yield
    finally:
        with allow_mutation():
            put(*before)


def flag(get: Callable[[], Any], put: Callable[[Any], None]) -> property:
    """Return the property of a setting, which freezing guards."""

    def guarded(owner: Any, value: Any) -> None:
        if _frozen:
            raise RuntimeError(
                f"not allowed to set {_shown(owner)} flags after disable_global_flags; "
                "please use flags() context manager instead"
            )
        put(value)

    return property(lambda owner: get(), guarded)


def _shown(owner: Any) -> str:
    name = owner.__name__ if isinstance(owner, ModuleType) else type(owner).__module__
    return name.replace("mindtorch", "torch", 1)


class BoolFlag:
    """A setting that is True or False.

    Args:
        setter: the name torch gives the function in its error.
        stray: what that text has before the type by torch's mistake.
    """

    def __init__(self, value: bool, setter: str, stray: str = "") -> None:
        self.value = value
        self._setter = setter
        self._stray = stray

    def get(self) -> bool:
        """Return the setting."""
        return self.value

    def put(self, value: Any) -> None:
        """Check and keep the setting."""
        if not isinstance(value, bool):
            raise RuntimeError(f"{self._setter} expects a bool, but got {self._stray}{type(value).__name__}")
        self.value = value

    def property(self) -> property:
        """Return the property of this setting."""
        return flag(self.get, self.put)


def give_class(module_name: str, cls: type[ModuleType]) -> None:
    """Make the module ``module_name`` an instance of ``cls``, so that its settings are attributes."""
    sys.modules[module_name].__class__ = cls
