"""Which CANN is installed, and which chip this is, as torch_npu numbers them."""

from __future__ import annotations

import re

from mindtorch_npu import runtime
from mindtorch_npu.acl import loader
from mindtorch_npu.checks import cann_version

__all__ = ["get_cann_version", "get_soc_version", "is_gte_cann_version"]

MODULES = ("CANN", "RUNTIME", "COMPILER", "HCCL", "TOOLKIT", "OPP", "OPP_KERNEL", "DRIVER")
_CHIPS = {
    100: "Ascend910PremiumA Ascend910ProA Ascend910A Ascend910ProB Ascend910B",
    200: "Ascend310P1 Ascend310P2 Ascend310P3 Ascend310P4 Ascend310P5 Ascend310P7",
    220: "Ascend910B1 Ascend910B2 Ascend910B2C Ascend910B3 Ascend910B4 Ascend910B4-1",
    240: "Ascend310B1 Ascend310B2 Ascend310B3 Ascend310B4",
    250: "Ascend910_9391 Ascend910_9392 Ascend910_9381 Ascend910_9382 Ascend910_9372 Ascend910_9362 Ascend910_9363",
}
SOC_VERSIONS = {name: first + place for first, names in _CHIPS.items() for place, name in enumerate(names.split())}
ASCEND_950 = 260


def get_soc_version() -> int:
    """Return the number of the chip, -1 for one that torch_npu has no number of."""
    name = runtime.init().get_soc_name() or ""
    return ASCEND_950 if name.startswith("Ascend950") else SOC_VERSIONS.get(name, -1)


def get_cann_version(module: str = "CANN") -> str:
    """Return the version of the active CANN installation, an empty text without one, or for what it has not."""
    if module not in MODULES:
        return ""
    root = next(loader.cann_roots(), None)
    return (cann_version(root) or "") if root is not None else ""


def is_gte_cann_version(version: str, module: str = "CANN") -> bool:
    """Return whether the active installation is of a version or newer. RuntimeError for a text that is no version."""
    wanted = _order(version)
    if wanted is None:
        raise RuntimeError(f"version: {version} is invalid")
    have = _order(get_cann_version(module))
    return have is not None and have >= wanted


def _order(text: str) -> tuple[int, int, int, int, int] | None:
    """Return a version in the order of versions: `8.1.RC1.alpha002` is before `8.1.RC1`, that before `8.1.0`."""
    parts = re.fullmatch(r"(\d+)\.(\d+)\.(?:RC)?(\d+)(?:\.?(?:alpha|beta|T)(\d+))?", text)
    if parts is None:
        return None
    major, minor, third, early = (int(one) if one else -1 for one in parts.groups())
    return major, minor, -1 if "RC" in text else 0, third, 10**6 if early < 0 else early
