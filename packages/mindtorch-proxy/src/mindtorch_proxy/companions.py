"""Finders of packages that programs import beside `torch` and that MindTorch offers: `torch_npu` and `functorch`.

`torch_npu` is for Ascend devices: it is there while the proxy is on and the distribution `mindtorch-npu` is installed.
`torch_npu.npu` is `torch.npu`, the very module; the rest is MindTorch's `_torch_npu`. `functorch` comes with torch, so it
is always there; it is MindTorch's `_functorch_package`.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from mindtorch_proxy.finder import find_elsewhere
from mindtorch_proxy.loaders import AliasLoader
from mindtorch_proxy.names import OURS

HOMES = {"torch_npu": "_torch_npu", "functorch": "_functorch_package"}
"""The packages, and where MindTorch has them."""

NEEDED = {"torch_npu": "mindtorch_npu"}
"""What must be installed for one of them."""


def package_of(name: str) -> str | None:
    """Return which of the packages ``name`` is or is below of, None for every other name."""
    package = name.partition(".")[0]
    return package if package in HOMES else None


def to_ours(name: str) -> str:
    """Return our name of the module users call ``name``."""
    package, _, below = name.partition(".")
    if package == "torch_npu" and below.partition(".")[0] == "npu":
        return f"{OURS}.{below}"
    return f"{OURS}.{HOMES[package]}{name[len(package) :]}"


def companion_entries() -> dict[str, object]:
    """Return the entries of ``sys.modules`` for these packages and below."""
    # The first test alone settles all but a few of the thousands of names, without a call of ours.
    heads = tuple(HOMES)
    return {
        name: module
        for name, module in sys.modules.copy().items()
        if name.startswith(heads) and package_of(name) is not None
    }


class CompanionFinder:
    """Finds these packages and what is below them; claims no other name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for a name that MindTorch has, None without what the package needs. Imports nothing."""
        package = package_of(fullname)
        if package is None or (package in NEEDED and find_elsewhere(NEEDED[package]) is None):
            return None
        ours = to_ours(fullname)
        if fullname == package:
            return ModuleSpec(fullname, AliasLoader(ours), is_package=True)  # type: ignore[arg-type]
        # The parent has been imported, so that ours has; finding a submodule of it runs no code.
        found = importlib.util.find_spec(ours) if ours.rpartition(".")[0] in sys.modules else None
        if found is None:
            return None
        is_package = found.submodule_search_locations is not None
        return ModuleSpec(fullname, AliasLoader(ours), origin=found.origin, is_package=is_package)  # type: ignore[arg-type]

    def invalidate_caches(self) -> None:
        """Do nothing: the finder keeps nothing."""
