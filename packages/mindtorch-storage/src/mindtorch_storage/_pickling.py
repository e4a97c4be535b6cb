"""How value types with a `torch` module name pickle in processes where `torch` may be another module, or none."""

from __future__ import annotations

import io
import sys
from typing import Any


def is_importable_as(module: str, name: str, obj: object) -> bool:
    """True when `module.name` is already this very object, so that a pickle may refer to it by that name."""
    return getattr(sys.modules.get(module), name, None) is obj


def reduce_as_file(storage: Any, untyped: type) -> tuple[Any, ...] | None:
    """How torch takes a storage apart, as a file in the old format; None where `torch` is another module, or none."""
    torch: Any = sys.modules.get("torch")
    if getattr(torch, "UntypedStorage", None) is not untyped or storage.device.type == "meta":
        return None
    content = io.BytesIO()
    torch.save(storage, content, _use_new_zipfile_serialization=False)
    return torch.storage._load_from_bytes, (content.getvalue(),)
