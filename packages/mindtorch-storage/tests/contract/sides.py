"""Both sides of the tests of storages: dtypes and storage classes, ours and torch's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mindtorch_storage import dtype as types
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, UntypedStorage

torch = pytest.importorskip("torch", reason="oracle")


def world(source: Any, **overrides: Any) -> SimpleNamespace:
    names = ("float32", "float64", "int16", "int32", "uint8", "complex64")
    return SimpleNamespace(**{name: getattr(source, name) for name in names}, **overrides)


OURS = world(types, U=UntypedStorage, T=TypedStorage, **LEGACY_CLASSES)
THEIRS = world(
    torch,
    U=torch.UntypedStorage,
    T=torch.storage.TypedStorage,
    **{name: getattr(torch, name) for name in LEGACY_CLASSES},
)
