"""Storages: the memory under tensors."""

from mindtorch_storage.storage.untyped import (
    UntypedStorage,
    register_allocator,
    set_reduce_hook,
    set_relocation_hook,
)

__all__ = ["UntypedStorage", "register_allocator", "set_reduce_hook", "set_relocation_hook"]
