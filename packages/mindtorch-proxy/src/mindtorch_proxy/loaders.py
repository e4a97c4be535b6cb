"""The two loaders of the proxy: one gives a loaded module a second name, one reports that a module was loaded.

While the proxy is on, a module of MindTorch calls itself by the name that users know: ``torch.nn.__name__`` is
`torch.nn`, and so are its spec's name and its package. :func:`wear` puts these on, :func:`take_off` restores its own.

Classes of MindTorch say `torch.nn` always. What a plain pickle of a tensor calls must be found by its name in a process
without the proxy as well: a module that asks for it by ``__named_by_proxy__`` shows torch's names while the proxy is on.
"""

import importlib
import importlib.util
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import CodeType, FunctionType, ModuleType
from typing import Any

from mindtorch_proxy.names import to_torch


class AliasLoader:
    """Loads `torch.x` by importing `mindtorch.x` and handing out that very module.

    The import system writes its spec into the module it is given. The module's own is remembered before that: while the
    proxy is on, the module shows the name `torch.x`, and its own name again when the proxy is off.
    """

    def __init__(self, target: str, name: str | None = None, own_spec: ModuleSpec | None = None) -> None:
        self.target = target
        self._handing_out = False  # between the two halves of a load; a reload has the second alone
        self._name = name  # what the module shows once it is bound; None: what it shows already
        self._own_spec = own_spec
        self._shown: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the target and return it."""
        module = importlib.import_module(self.target)
        self._handing_out = True
        self._own_spec, self._shown = own_spec(module), getattr(module, "__spec__", None)
        # For the moment in which the module carries `spec`, other threads must see it as no more finished than it is.
        spec._initializing = True  # type: ignore[attr-defined]
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Name the module; its code has run already, but for ``importlib.reload``, which runs it again."""
        if self._handing_out:
            self._handing_out = False
            module.__spec__ = self._shown
            if self._name is not None:
                wear(module, self._name)
            return
        code = self._ask_target_loader("get_code")
        if code is None:
            raise ImportError(f"no code of {self.target!r} to run again", name=self.target)
        exec(code, module.__dict__)

    def is_package(self, fullname: str) -> bool:
        """Return whether the target is a package."""
        spec = self._target_spec()
        return spec is not None and spec.submodule_search_locations is not None

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the target's code, for `python -m torch.x` and for tools."""
        code: CodeType | None = self._ask_target_loader("get_code")
        return code

    def get_source(self, fullname: str) -> str | None:
        """Return the target's source."""
        source: str | None = self._ask_target_loader("get_source")
        return source

    def get_filename(self, fullname: str) -> str:
        """Return the target's file."""
        name: str = self._ask_target_loader("get_filename")
        return name

    def get_resource_reader(self, fullname: str) -> Any:
        """Return what reads the data files of the target's package."""
        return self._ask_target_loader("get_resource_reader")

    def get_data(self, path: str) -> bytes:
        """Return the bytes of a file."""
        spec = self._target_spec()
        loader: Any = spec.loader if spec is not None else None
        if not hasattr(loader, "get_data"):
            raise OSError(f"no data of {self.target!r}: {path}")
        data: bytes = loader.get_data(path)
        return data

    def _target_spec(self) -> ModuleSpec | None:
        return self._own_spec or importlib.util.find_spec(self.target)

    def _ask_target_loader(self, method: str) -> Any:
        spec = self._target_spec()
        ask = getattr(spec.loader, method, None) if spec is not None else None
        return ask(self.target) if ask is not None else None


def own_spec(module: ModuleType) -> ModuleSpec | None:
    """Return the spec the module was loaded with, whichever name it shows now."""
    spec = getattr(module, "__spec__", None)
    while spec is not None and isinstance(spec.loader, AliasLoader):
        spec = spec.loader._own_spec
    return spec


def worn_spec(own: ModuleSpec, name: str) -> ModuleSpec:
    """Return the spec that the module with the spec ``own`` shows under ``name``."""
    spec = ModuleSpec(name, AliasLoader(own.name, name, own), origin=own.origin)  # type: ignore[arg-type]
    spec.submodule_search_locations = own.submodule_search_locations
    spec.has_location = own.has_location
    spec.cached = own.cached
    return spec


def wear(module: ModuleType, name: str) -> None:
    """Let a loaded module show ``name`` as its own."""
    own = own_spec(module)
    if own is not None:
        _show(module, worn_spec(own, name))
        if vars(module).get("__named_by_proxy__"):
            _name_members(module, own.name, name)


def take_off(module: ModuleType) -> None:
    """Let a module show the name it was loaded with."""
    own = own_spec(module)
    if own is not None:
        _show(module, own)
        if vars(module).get("__named_by_proxy__"):
            _name_members(module, to_torch(own.name), own.name)


def _name_members(module: ModuleType, before: str, after: str) -> None:
    for value in list(vars(module).values()):
        if isinstance(value, FunctionType) and value.__module__ == before:
            value.__module__ = after


def _show(module: ModuleType, spec: ModuleSpec) -> None:
    # The loader before the spec: Python warns where a module's two loaders differ, and looks at the spec's first.
    module.__name__, module.__package__, module.__loader__ = spec.name, spec.parent, spec.loader
    module.__spec__ = spec


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
