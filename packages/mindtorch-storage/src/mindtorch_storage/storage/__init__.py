"""Storages: the memory under tensors."""

from mindtorch_storage.annotations import bind_annotations
from mindtorch_storage.storage import typed, untyped
from mindtorch_storage.storage.allocators import register_allocator, set_backend_loader
from mindtorch_storage.storage.base import StorageBase
from mindtorch_storage.storage.conversion import NO_PINNED_MEMORY, check_pinning_device
from mindtorch_storage.storage.legacy import LEGACY_CLASSES, legacy_classes
from mindtorch_storage.storage.typed import (
    TypedStorage,
    storage_class_dtype,
    storage_class_name,
)
from mindtorch_storage.storage.untyped import (
    UntypedStorage,
    set_relocation_hook,
)

bind_annotations(TypedStorage, typed.__name__)
bind_annotations(UntypedStorage, untyped.__name__)

__all__ = [
    "LEGACY_CLASSES",
    "NO_PINNED_MEMORY",
    "StorageBase",
    "TypedStorage",
    "UntypedStorage",
    "check_pinning_device",
    "legacy_classes",
    "register_allocator",
    "set_backend_loader",
    "set_relocation_hook",
    "storage_class_dtype",
    "storage_class_name",
]
