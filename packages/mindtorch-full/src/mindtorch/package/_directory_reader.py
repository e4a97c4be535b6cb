"""A package that was unpacked into a folder, read as its archive is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.storage import TypedStorage, UntypedStorage

_SERIALIZATION_ID = ".data/serialization_id"


class _HasStorage:
    """What a reader of archives gives as a tensor: here the storage alone is asked for."""

    def __init__(self, storage: UntypedStorage, dtype: Dtype) -> None:
        self._storage = storage
        self._dtype = dtype

    def storage(self) -> UntypedStorage:
        return self._storage

    untyped_storage = storage

    def _typed_storage(self) -> TypedStorage:
        return TypedStorage._over(self._storage, self._dtype)


class DirectoryReader:
    """Has those methods of `torch.PyTorchFileReader` that importers use."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def get_record(self, name: str) -> bytes:
        """Return a file's content."""
        return Path(self.directory, name).read_bytes()

    def get_storage_from_record(self, name: str, numel: int, dtype: Dtype) -> _HasStorage:
        """Return a storage over a file of so many elements."""
        path = os.path.join(self.directory, name)
        return _HasStorage(UntypedStorage.from_file(path, nbytes=dtype.itemsize * numel), dtype)

    def has_record(self, path: str) -> bool:
        """Return whether there is such a file."""
        return os.path.isfile(os.path.join(self.directory, path))

    def get_all_records(self) -> list[str]:
        """Return the paths of all files but those whose names begin with a point, as `glob` finds them."""
        paths = (path.relative_to(self.directory) for path in Path(self.directory).rglob("*") if path.is_file())
        return [path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts)]

    def serialization_id(self) -> Any:
        """Return what stands for the archive's content."""
        return self.get_record(_SERIALIZATION_ID) if self.has_record(_SERIALIZATION_ID) else ""
