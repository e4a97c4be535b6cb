"""The native classes of TorchScript, for `isinstance` and annotations: there is no TorchScript, so none has instances."""

from __future__ import annotations

from typing import Any, NoReturn

from mindtorch._naming import adopt

__all__ = ["ScriptMethod", "ScriptModule", "ScriptObject"]


class _Native:
    """Base of classes whose instances only TorchScript makes."""

    def __new__(cls, *args: Any, **options: Any) -> NoReturn:  # type: ignore[misc]
        raise TypeError(f"torch._C.{cls.__name__}: No constructor defined!")


class ScriptObject(_Native):
    """An object of a class that TorchScript compiled."""


class ScriptModule(ScriptObject):
    """What stands behind a module that TorchScript compiled."""


class ScriptMethod(_Native):
    """A method that TorchScript compiled."""


adopt(globals())
for _class in (ScriptObject, ScriptModule, ScriptMethod):
    _class.__module__ = "torch"
