"""The meta-path finder.

While it is on, one rule holds: ``sys.modules`` has `torch.x` once `mindtorch.x` is loaded, and both are the same
object. Two ways lead there. An import of `torch.x` loads `mindtorch.x` and binds it under the second name
(:class:`AliasLoader`). An import of `mindtorch.x`, by anyone, is loaded by whoever would load it anyway and gets its
second name when its code has run (:class:`MirrorLoader`); without this, code that reads
``sys.modules["torch.nn.modules.linear"]`` would miss every module that MindTorch imported for itself.

Note [ where the two ways meet ]: after a finder has answered, the import system looks whether the name has appeared in
``sys.modules`` meanwhile, and if so takes *that module's* spec and loads it. The spec that a mirrored module shows is
made for this: to load it is to hand out the module, and only to reload it runs its code again. So finding a spec takes
nothing out of ``sys.modules``: whoever imported such a name again would bind the module in its parent, over a function
of the same name (`torch.ao.quantization.fuse_modules`).
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

from mindtorch_proxy.loaders import AliasLoader, MirrorLoader, own_spec, wear, worn_spec
from mindtorch_proxy.names import OURS, THEIRS, is_mindtorch_name, is_torch_name, to_mindtorch, to_torch

COMPLETION = "MINDTORCH_TORCH_PATH"
"""The variable that names folders with modules of torch that MindTorch has no equal of, as `torch/testing/_internal`."""


class TorchFinder:
    """Finds `torch` and `torch.*`, and the distribution `torch`; claims no other name.

    A meta-path finder by its methods. The abstract classes of `importlib.abc` are not used, here and in the loaders:
    importing them costs more than all of the proxy, and `enable-site` charges that to every start of Python.
    """

    def __init__(self) -> None:
        # Held for a few dictionary operations only, never while calling out. Reentrant, because a garbage collection in
        # between may run a finaliser that imports.
        self.lock = RLock()
        self._active = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for a torch name that MindTorch has; for every other name leave the answer to the others."""
        if is_torch_name(fullname):
            if target is not None and target is sys.modules.get(fullname):  # reloaded
                own = own_spec(target)
                return None if own is None else worn_spec(own, fullname)
            return self._alias_spec(fullname, path)
        if is_mindtorch_name(fullname):
            return self._mirrored_spec(fullname, path, target)
        return None

    def find_distributions(self, context: Any = None) -> Iterable[Any]:
        """Return the distribution `torch` when it, or every distribution, is asked for.

        Only `importlib.metadata` calls this, so our half of it is imported here and not by every start of Python.
        """
        ours = importlib.import_module("mindtorch_proxy.metadata")
        return [ours.TorchDistribution()] if ours.answers_for(context.name if context is not None else None) else []

    def invalidate_caches(self) -> None:
        """Do nothing: the finder keeps nothing."""

    def activate(self, on: bool) -> None:
        """Start or stop mirroring; after ``activate(False)`` returns, no second name appears any more."""
        with self.lock:
            self._active = on

    def mirror(self, name: str) -> None:
        """Give the loaded module ``name`` (`mindtorch.x`) its second name."""
        alias = to_torch(name)
        with self.lock:
            if self._active and name in sys.modules:
                module = sys.modules[name]
                if sys.modules.get(alias, module) is module:
                    wear(module, alias)  # before another thread can see the name, and take the module's spec
                    sys.modules[alias] = module

    def _alias_spec(self, fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
        ours = to_mindtorch(fullname)
        if _is_completed(fullname.rpartition(".")[0]):
            return None  # a part of a package that is torch's own: the usual finders have its path
        place = _place_of(ours, path)
        if place is None and fullname != THEIRS:
            return _completing_spec(fullname)
        # `torch` itself is ours even when `mindtorch` is gone: its import then says so, and no other torch slips in.
        origin, locations = place or (None, [])
        loader: Any = AliasLoader(ours, fullname)
        spec = ModuleSpec(fullname, loader, origin=origin, is_package=locations is not None)
        if locations is not None:
            spec.submodule_search_locations = list(locations)
        return spec

    def _mirrored_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        spec = find_elsewhere(fullname, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = MirrorLoader(spec, self.mirror)  # type: ignore[assignment]
        return spec


def find_elsewhere(
    fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
) -> ModuleSpec | None:
    """Return what the other finders say about ``fullname``. Imports nothing."""
    for finder in list(sys.meta_path):
        if isinstance(finder, TorchFinder) or not hasattr(finder, "find_spec"):
            continue
        spec = finder.find_spec(fullname, path, target)
        if spec is not None:
            return spec
    return None


def loaded_mindtorch_modules() -> list[str]:
    """Return the names of the modules of MindTorch whose code has run."""
    return [
        name
        for name, module in sys.modules.copy().items()
        if is_mindtorch_name(name)
        and module is not None
        and not getattr(getattr(module, "__spec__", None), "_initializing", False)
    ]


def mindtorch_is_installed() -> bool:
    """Return whether the package `mindtorch` can be found, without importing it."""
    return sys.modules.get(OURS) is not None or importlib.util.find_spec(OURS) is not None


def _completing_spec(fullname: str) -> ModuleSpec | None:
    """Return the spec of a module that MindTorch lacks and a folder of `MINDTORCH_TORCH_PATH` has.

    Such a module is torch's own, so it keeps its name and is known under no other.
    """
    parts = fullname.split(".")[:-1]
    folders = [os.path.join(folder, *parts) for folder in os.environ.get(COMPLETION, "").split(os.pathsep) if folder]
    return PathFinder.find_spec(fullname, folders) if folders else None


def _is_completed(package: str) -> bool:
    """Return whether the loaded ``package`` is torch's own, found by :func:`_completing_spec`."""
    spec = getattr(sys.modules.get(package), "__spec__", None)
    return spec is not None and is_torch_name(spec.name) and not isinstance(spec.loader, AliasLoader)


def _place_of(ours: str, path: Sequence[str] | None) -> tuple[str | None, Sequence[str] | None] | None:
    """Return file and search path of the module ``ours``, None when there is no such module.

    It must not import: finders run under the global import lock.
    """
    if ours in sys.modules:
        module = sys.modules[ours]
        if module is None:
            # Switched off by hand. Not None as the answer: the next finder would load a second copy by its path.
            alias = to_torch(ours)
            raise ModuleNotFoundError(f"import of {alias} halted; None in sys.modules", name=alias)
        return getattr(module, "__file__", None), getattr(module, "__path__", None)
    parent = ours.rpartition(".")[0]
    if parent and path is None:
        path = getattr(sys.modules.get(parent), "__path__", None)
        if path is None:
            return None
    spec = find_elsewhere(ours, path)
    return (spec.origin, spec.submodule_search_locations) if spec is not None else None
