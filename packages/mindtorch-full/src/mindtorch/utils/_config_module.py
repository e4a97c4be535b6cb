"""`torch.utils._config_module`: modules whose attributes are settings that can be changed for a block."""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from mindtorch._naming import adopt, torch_name

__all__ = ["ConfigModule", "install_config_module"]


class ConfigModule(ModuleType):
    """The type of a module of settings; only what the module defines can be set."""

    _settings: dict[str, Any]

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in self._settings:
            raise AttributeError(f"{torch_name(self.__name__)}.{name} does not exist")
        super().__setattr__(name, value)

    @contextlib.contextmanager
    def patch(self, given: str | dict[str, Any] | None = None, value: Any = None, **settings: Any) -> Iterator[None]:
        """Context manager and decorator: settings have other values inside."""
        changes = {given: value} if isinstance(given, str) else {**(given or {}), **settings}
        before = {name: getattr(self, name) for name in changes}
        try:
            for name, new in changes.items():
                setattr(self, name, new)
            yield
        finally:
            for name, old in before.items():
                setattr(self, name, old)

    def shallow_copy_dict(self) -> dict[str, Any]:
        """Return the settings."""
        return {name: getattr(self, name) for name in self._settings}

    def save_config_portable(self) -> dict[str, Any]:
        """Return a copy of the settings."""
        return copy.deepcopy(self.shallow_copy_dict())

    def load_config(self, settings: dict[str, Any]) -> None:
        """Set what was saved."""
        for name, value in settings.items():
            setattr(self, name, value)


def install_config_module(module: ModuleType) -> None:
    """Make the public values that ``module`` defines its settings."""
    settings = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and isinstance(value, (bool, int, float, str, list, dict, type(None)))
    }
    vars(module)["_settings"] = settings
    module.__class__ = ConfigModule


def install(name: str) -> None:
    """As `install_config_module`, for the module that is being imported under ``name``."""
    install_config_module(sys.modules[name])


adopt(globals())
