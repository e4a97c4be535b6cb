"""`torch.utils._config_module`: modules whose attributes are settings that can be changed for a block."""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, NoReturn, cast

from mindtorch._naming import adopt, torch_name

__all__ = ["ConfigModule", "SubConfigProxy", "install_config_module"]


class SubConfigProxy:
    """A group of settings inside a module; the module keeps them under their names with the group's before."""

    _config: ConfigModule
    _prefix: str

    def __init__(self, config: ConfigModule, prefix: str) -> None:
        super().__setattr__("_config", config)
        super().__setattr__("_prefix", prefix)

    def __getattr__(self, name: str) -> object:
        found: object = getattr(self._config, self._prefix + name)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._config, self._prefix + name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._config, self._prefix + name)


class ConfigModule(ModuleType):
    """The type of a module of settings; only what the module defines can be set."""

    _settings: dict[str, Any]

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{torch_name(self.__name__)}.{name} does not exist")

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

    def get_config_copy(self) -> dict[str, Any]:
        """Return a copy of the settings."""
        return copy.deepcopy(self.shallow_copy_dict())

    def save_config_portable(self) -> dict[str, Any]:
        """Return a copy of the settings."""
        return self.get_config_copy()

    def load_config(self, settings: dict[str, Any]) -> None:
        """Set what was saved."""
        for name, value in settings.items():
            setattr(self, name, value)


def _settings_of(names: Mapping[str, object]) -> dict[str, Any]:
    """Return what is a setting among the names of a module or a class: public plain values."""
    return {
        name: value
        for name, value in names.items()
        if not name.startswith("_") and isinstance(value, (bool, int, float, str, list, dict, type(None)))
    }


def install_config_module(module: ModuleType) -> None:
    """Make the public values that ``module`` defines its settings."""
    settings = _settings_of(vars(module))
    groups = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    }
    module.__class__ = ConfigModule
    for name, group in groups.items():
        inner = {f"{name}.{key}": value for key, value in _settings_of(vars(group)).items()}
        vars(module).update(inner)
        settings.update(inner)
        vars(module)[name] = SubConfigProxy(cast("ConfigModule", module), f"{name}.")
    vars(module)["_settings"] = settings


def install(name: str) -> None:
    """As `install_config_module`, for the module that is being imported under ``name``."""
    install_config_module(sys.modules[name])


adopt(globals())
