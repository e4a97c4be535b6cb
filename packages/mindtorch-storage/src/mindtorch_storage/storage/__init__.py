"""Storages: the memory under tensors."""

from mindtorch_storage.storage.typed import (
    LEGACY_CLASSES,
    TypedStorage,
    storage_class_dtype,
    storage_class_name,
)
from mindtorch_storage.storage.untyped import (
    UntypedStorage,
    register_allocator,
    set_relocation_hook,
)

__all__ = [
    "LEGACY_CLASSES",
    "TypedStorage",
    "UntypedStorage",
    "register_allocator",
    "set_relocation_hook",
    "storage_class_dtype",
    "storage_class_name",
]
