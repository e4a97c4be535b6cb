"""The native classes of TorchScript, for `isinstance` and annotations: there is no TorchScript, so none has instances."""

from __future__ import annotations

from typing import Any, NoReturn

from mindtorch._naming import adopt

__all__ = ["ScriptDict", "ScriptFunction", "ScriptList", "ScriptMethod", "ScriptModule", "ScriptObject", "TensorType"]


class _Native:
    """Base of classes whose instances only TorchScript makes."""

    def __new__(cls, *args: Any, **options: Any) -> NoReturn:  # type: ignore[misc]
        raise TypeError(f"torch._C.{cls.__name__}: No constructor defined!")


class ScriptObject(_Native):
    """An object of a class that TorchScript compiled.

    >>> isinstance(torch.ScriptObject, type)
    True
    """


class ScriptModule(ScriptObject):
    """What stands behind a module that TorchScript compiled.

    >>> isinstance(torch.ScriptModule, type)
    True
    """


class ScriptDict(_Native):
    """A dictionary that TorchScript shares with Python."""


class ScriptList(_Native):
    """A list that TorchScript shares with Python."""


class TensorType(_Native):
    """The type of tensors in compiled code."""


class ScriptFunction(_Native):
    """A function that TorchScript compiled."""

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run it; there is none to run."""
        raise TypeError("torch._C.ScriptFunction: nothing is compiled")


class ScriptMethod(_Native):
    """A method that TorchScript compiled.

    >>> isinstance(torch.ScriptMethod, type)
    True
    """

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run it; there is none to run."""
        raise TypeError("torch._C.ScriptMethod: nothing is compiled")


def _jit_clear_class_registry() -> None:
    """Forget the classes that were compiled: there are none."""


_emit_hooks: tuple[Any, Any] = (None, None)


def _jit_set_emit_hooks(module_hook: Any, function_hook: Any) -> None:
    """Keep what is called with everything that is compiled, which is nothing here."""
    global _emit_hooks
    _emit_hooks = module_hook, function_hook


def _jit_get_emit_hooks() -> tuple[Any, Any]:
    """Return what was kept."""
    return _emit_hooks


adopt(globals())
for _class in (ScriptObject, ScriptModule, ScriptMethod):
    _class.__module__ = "torch"
