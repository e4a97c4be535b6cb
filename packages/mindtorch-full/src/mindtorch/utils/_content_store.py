"""`torch.utils._content_store`: tensors in a folder, whose storages are files named by the digest of their bytes."""

from __future__ import annotations

import hashlib
import os
import weakref
from typing import Any

import mindtorch as torch
from mindtorch import _utils
from mindtorch._naming import adopt

__all__ = ["ContentStoreReader", "ContentStoreWriter", "hash_storage"]


def hash_storage(storage: Any, *, stable_hash: bool = False) -> str:
    """Return the SHA-1 of a storage's bytes in hexadecimal, as torch does where it does not compile.

    >>> hash_storage(torch.zeros(2, dtype=torch.uint8).untyped_storage())
    '1489f923c4dca729178b3e3233458550d8dddf29'
    """
    contents = torch.empty(0, dtype=torch.uint8).set_(storage.cpu()).numpy()
    return hashlib.sha1(contents.data, usedforsecurity=False).hexdigest()


class ContentStoreWriter:
    """Writes tensors by name below a folder; bytes that are there already are not written again."""

    def __init__(self, loc: str, stable_hash: bool = False) -> None:
        self.loc = loc
        self.stable_hash = stable_hash
        self.seen_storage_hashes: set[str] = set()

    def write_storage(self, storage: Any) -> str:
        """Write a storage, and return the name of its file."""
        name = hash_storage(storage, stable_hash=self.stable_hash)
        folder = os.path.join(self.loc, "storages")
        os.makedirs(folder, exist_ok=True)
        target = os.path.join(folder, name)
        if name not in self.seen_storage_hashes and not os.path.exists(target):
            torch.save(storage, target)
            self.seen_storage_hashes.add(name)
        return name

    def compute_tensor_metadata(self, t: Any, h: str | None = None) -> tuple[Any, ...]:
        """Return what is written for a tensor besides its bytes."""
        name = hash_storage(t.untyped_storage(), stable_hash=self.stable_hash) if h is None else h
        return t.dtype, name, t.storage_offset(), tuple(t.shape), t.stride(), _utils.get_tensor_metadata(t)

    def write_tensor(self, name: str, t: Any) -> None:
        """Write a tensor under a name, which may have folders in it."""
        known = self.compute_tensor_metadata(t, h=self.write_storage(t.untyped_storage()))
        path = os.path.join(self.loc, "tensors", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        torch.save(known, path)


class ContentStoreReader:
    """Reads what a `ContentStoreWriter` wrote.

    Args:
        cache: give tensors over the same bytes one storage, for as long as that lives.
    """

    def __init__(self, loc: str, *, cache: bool = True) -> None:
        self.loc = loc
        self.storage_cache: dict[Any, weakref.ref[Any]] | None = {} if cache else None

    def read_storage(self, h: str, *, device: Any = None) -> Any:
        """Return the storage whose file has this name."""
        key = (None if device is None else torch.device(device), h)
        known = None if self.storage_cache is None else self.storage_cache.get(key)
        found = None if known is None else known()
        if found is not None:
            return found
        path = os.path.join(self.loc, "storages", h)
        made = torch.load(path, weights_only=True, map_location=device)._untyped_storage
        if self.storage_cache is not None:
            self.storage_cache[key] = weakref.ref(made)
        return made

    def read_tensor_metadata(self, name: str) -> Any:
        """Return what was written for a tensor besides its bytes; FileNotFoundError where there is no such tensor."""
        path = os.path.join(self.loc, "tensors", name)
        if not os.path.exists(path):
            raise FileNotFoundError(path)
        return torch.load(path, weights_only=True)

    def read_tensor(self, name: str, *, device: Any = None) -> Any:
        """Return the tensor of a name."""
        dtype, h, offset, size, stride, metadata = self.read_tensor_metadata(name)
        storage = self.read_storage(h, device=device)
        made = torch.tensor([], dtype=dtype, device=storage.device)
        made.set_(storage, offset, size, stride)
        _utils.set_tensor_metadata(made, metadata)
        return made


adopt(globals())
