"""How value types with a `torch` module name pickle in processes where `torch` may be another module, or none."""

from __future__ import annotations

import sys


def is_importable_as(module: str, name: str, obj: object) -> bool:
    """True when `module.name` is already this very object, so that a pickle may refer to it by that name."""
    return getattr(sys.modules.get(module), name, None) is obj
