"""Names of torch_npu that are there and raise when they are used: `data/absent_npu.toml` has them, by reason."""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files

from mindtorch._absence import stand_in

__all__ = ["placeholders", "reasons"]


@functools.cache
def reasons() -> dict[str, dict[str, str]]:
    """Return the absent names of every module, each with its reason."""
    found: dict[str, dict[str, str]] = {}
    text = files("mindtorch.data").joinpath("absent_npu.toml").read_text(encoding="utf-8")
    for group in tomllib.loads(text).values():
        reason = group.pop("reason")
        for module, names in group.items():
            found.setdefault(module, {}).update(dict.fromkeys(names.split(), reason))
    return found


def placeholders(module: str) -> dict[str, object]:
    """Return by name what stands for a module's absent names."""
    return {name: stand_in(module, name, reason) for name, reason in reasons().get(module, {}).items()}
