"""`torch.PyTorchFileReader`: the records of a checkpoint one by one, for programs that load only what they need."""

from __future__ import annotations

import os
from typing import Any

import mindtorch
from mindtorch_storage.dtype import dtype as DType
from mindtorch_storage.storage import UntypedStorage

from ._archive_reader import ArchiveReader

_SCALAR_NAMES = {
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
    "bool": "Bool",
    "bfloat16": "BFloat16",
}
"""Name of a dtype to the one in torch's message."""


class PyTorchFileReader:
    """Random access to the records of a file that `torch.save` wrote, by path or as a stream that seeks.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save(torch.ones(2), file)
    >>> _ = file.seek(0)
    >>> sorted(torch.PyTorchFileReader(file).get_all_records())[-1]
    'version'
    """

    def __init__(self, file: Any) -> None:
        if isinstance(file, str):
            try:
                self._stream: Any = open(file, "rb")  # noqa: SIM115 (lives as long as the reader)
            except OSError as error:
                raise RuntimeError(
                    f"open file failed because of errno {error.errno} on fopen: {os.strerror(error.errno or 0)}, "
                    f"file path: {file}"
                ) from None
        else:
            file.tell()
            self._stream = file
        self._archive = ArchiveReader(self._stream)

    def get_all_records(self) -> list[str]:
        """Return the names of all records."""
        return self._archive.get_all_records()

    def has_record(self, name: str) -> bool:
        """Return whether there is such a record."""
        return self._archive.has_record(name)

    def get_record(self, name: str) -> bytes:
        """Return a record's content; RuntimeError when it is absent or damaged."""
        return self._archive.get_record(name)

    def get_record_size(self, name: str) -> int:
        """Return the length of a record's content."""
        return self._archive.record_size(name)

    def get_record_offset(self, name: str) -> int:
        """Return where a record's content begins, from the start of the archive."""
        return self._archive.record_offset(name)

    def get_record_header_offset(self, name: str) -> int:
        """Return where the header before a record's content begins."""
        return self._archive.header_offset(name)

    def serialization_id(self) -> str:
        """Return the digits that stand for the archive's content; an empty text in files that have none."""
        name = ".data/serialization_id"
        return self.get_record(name).decode() if self.has_record(name) else ""

    def get_storage_from_record(self, name: str, numel: int, dtype: Any) -> Any:
        """Return an empty tensor over a storage with the record's content.

        Args:
            dtype: of the `numel` elements; anything that is no dtype, `UntypedStorage` for one, means bytes.

        Raises:
            RuntimeError: the record has another length.
        """
        kind = dtype if isinstance(dtype, DType) else mindtorch.uint8
        size, wanted = self.get_record_size(name), numel * kind.itemsize
        if size != wanted:
            known = str(kind).removeprefix("torch.")
            raise RuntimeError(
                f"record size ({size} bytes) does not match expected size ({wanted} bytes = {numel} elements * "
                f"{kind.itemsize} bytes/element) for dtype {_SCALAR_NAMES.get(known, known)}"
            )
        storage = UntypedStorage(size)
        self._archive.read_into(name, storage.buffer)
        return mindtorch.empty(0, dtype=kind).set_(storage, 0, (0,))


PyTorchFileReader.__module__ = "torch"
