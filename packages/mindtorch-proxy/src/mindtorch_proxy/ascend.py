"""The finder of `torch_npu`, the package that programs for Ascend devices import beside `torch`.

It is there while the proxy is on and the distribution `mindtorch-npu` is installed. `torch_npu.npu` is `torch.npu`, the
very module; the rest is MindTorch's `_torch_npu`.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from mindtorch_proxy.finder import find_elsewhere
from mindtorch_proxy.loaders import AliasLoader
from mindtorch_proxy.names import OURS

ASCEND = "torch_npu"
RUNTIME = "mindtorch_npu"


def is_ascend_name(name: str) -> bool:
    """Return whether ``name`` is `torch_npu` or below it."""
    return name == ASCEND or name.startswith(ASCEND + ".")


def to_ours(name: str) -> str:
    """Return our name of the module users call ``name``."""
    rest = name[len(ASCEND) :]
    return OURS + rest if rest == ".npu" or rest.startswith(".npu.") else f"{OURS}._{ASCEND}{rest}"


def ascend_entries() -> dict[str, object]:
    """Return the entries of ``sys.modules`` for `torch_npu` and below."""
    return {
        name: module for name, module in sys.modules.copy().items() if name.startswith(ASCEND) and is_ascend_name(name)
    }


class AscendFinder:
    """Finds `torch_npu` and what is below it; claims no other name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for a name that MindTorch has, None without the runtime of the devices. Imports nothing."""
        if not is_ascend_name(fullname) or find_elsewhere(RUNTIME) is None:
            return None
        ours = to_ours(fullname)
        if fullname == ASCEND:
            return ModuleSpec(fullname, AliasLoader(ours), is_package=True)  # type: ignore[arg-type]
        # The parent has been imported, so that ours has; finding a submodule of it runs no code.
        found = importlib.util.find_spec(ours) if ours.rpartition(".")[0] in sys.modules else None
        if found is None:
            return None
        package = found.submodule_search_locations is not None
        return ModuleSpec(fullname, AliasLoader(ours), origin=found.origin, is_package=package)  # type: ignore[arg-type]

    def invalidate_caches(self) -> None:
        """Do nothing: the finder keeps nothing."""
