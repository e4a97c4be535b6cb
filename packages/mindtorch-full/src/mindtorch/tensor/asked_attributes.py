"""Attributes of tensors under a program's mode of `__torch_function__`: the mode is asked about `x.shape`, too.

The properties of `Tensor` are replaced while such a mode is entered in any thread: without one they cost what they did. A
read by code that is native in torch is none of the program's, and not asked about.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from mindtorch_dispatch.frames import is_native_in_torch
from mindtorch_dispatch.override import overrides
from mindtorch_dispatch.state import NONE_OVERRIDE, state

from .tensor import Tensor, is_attribute

_UNASKED = frozenset(("names", "is_npu"))
"""Properties that torch reads without asking."""
_ASKED_WRITES = frozenset(
    "requires_grad data grad _grad _backward_hooks grad_dtype _post_accumulate_grad_hooks".split()
)
_OWN = ("mindtorch", "torch")


class _Asking(property):
    """A property that asks the innermost mode; of the class it gives the property that it stands for."""

    def __init__(self, below: property) -> None:
        super().__init__(below.fget, below.fset, below.fdel, below.__doc__)
        self.below = below

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self.below
        if _concerns():
            handled, result = overrides.ask(self.below.__get__, [instance], (instance,), {})
            if handled:
                return result
        return self.below.fget(instance)  # type: ignore[misc]  # every attribute can be read

    def __set__(self, instance: Any, value: Any) -> None:
        self.below.__set__(instance, value)

    def __delete__(self, instance: Any) -> None:
        self.below.__delete__(instance)


class _AskingWrites(_Asking):
    """The same for a property that a program may write or delete."""

    def __set__(self, instance: Any, value: Any) -> None:
        if _concerns():
            handled, _ = overrides.ask(self.below.__set__, [instance], (instance, value), {})
            if handled:
                return
        super().__set__(instance, value)

    def __delete__(self, instance: Any) -> None:
        if _concerns():
            handled, _ = overrides.ask(self.below.__delete__, [instance], (instance,), {})
            if handled:
                return
        super().__delete__(instance)


def _concerns() -> bool:
    mode = state.mode
    if not mode.function_modes or mode.function_override == NONE_OVERRIDE:
        return False
    return not is_native_in_torch(sys._getframe(2))


def _of_program(mode: object) -> bool:
    return type(mode).__module__.partition(".")[0] not in _OWN


class _Replaced:
    """The properties that stand in `Tensor` for others, and how many modes of programs are entered."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.entered = 0
        self.made: list[tuple[type, str, _Asking]] = []

    def enter(self, mode: object) -> None:
        """Count a mode; the first one replaces the properties."""
        if _of_program(mode):
            with self.lock:
                self.entered += 1
                if self.entered == 1:
                    self._put(lambda asking: asking)

    def leave(self, mode: object) -> None:
        """Count a mode that is left; the last one puts the properties back."""
        if _of_program(mode):
            with self.lock:
                self.entered -= 1
                if self.entered == 0:
                    self._put(lambda asking: asking.below)

    def _put(self, choose: Callable[[_Asking], property]) -> None:
        if not self.made:
            for owner in Tensor.__mro__[:-1]:
                for name, value in list(vars(owner).items()):
                    if is_attribute(value) and name not in _UNASKED:
                        kind = _AskingWrites if name in _ASKED_WRITES else _Asking
                        self.made.append((owner, name, kind(value)))
        for owner, name, asking in self.made:
            setattr(owner, name, choose(asking))


replaced = _Replaced()
