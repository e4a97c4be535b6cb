"""The two loaders of the proxy: one gives a loaded module a second name, one reports that a module was loaded."""

import importlib
import importlib.util
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any


class AliasLoader:
    """Loads `torch.x` by importing `mindtorch.x` and handing out that very module.

    The import system writes its spec into the module it is given. The module must keep its own (``reload`` and
    ``repr`` depend on it), so it is remembered before and put back after.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.bound = False
        self._own_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the target and return it."""
        module = importlib.import_module(self.target)
        self._own_spec = _own_spec(module)
        # For the moment in which the module carries `spec`, other threads must see it as no more finished than it is.
        spec._initializing = True  # type: ignore[attr-defined]
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back; its code has run already."""
        module.__spec__ = self._own_spec
        self.bound = True

    def is_package(self, fullname: str) -> bool:
        """Return whether the target is a package."""
        spec = importlib.util.find_spec(self.target)
        return spec is not None and spec.submodule_search_locations is not None

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the target's code, for `python -m torch.x` and for tools."""
        code: CodeType | None = self._ask_target_loader("get_code")
        return code

    def get_source(self, fullname: str) -> str | None:
        """Return the target's source."""
        source: str | None = self._ask_target_loader("get_source")
        return source

    def _ask_target_loader(self, method: str) -> Any:
        spec = importlib.util.find_spec(self.target)
        ask = getattr(spec.loader, method, None) if spec is not None else None
        return ask(self.target) if ask is not None else None


def _own_spec(module: ModuleType) -> ModuleSpec | None:
    """Return the spec the module was loaded with, even while another alias of it is being bound."""
    spec = getattr(module, "__spec__", None)
    while spec is not None and isinstance(spec.loader, AliasLoader):
        spec = spec.loader._own_spec
    return spec


class MirrorLoader:
    """Stands in for the loader of `mindtorch.x` during one load, to report the module when its code has run."""

    def __init__(self, spec: ModuleSpec, loaded: Callable[[str], None]) -> None:
        self._spec = spec
        self._loader: Any = spec.loader
        self._loaded = loaded

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Let the real loader create the module."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Step aside, let the real loader run the module, then report its name."""
        self._spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._loaded(self._spec.name)

    def __getattr__(self, name: str) -> Any:
        """Answer for the real loader (``get_code``, ``get_source``, ...) to those who only look the spec up."""
        return getattr(self._loader, name)
