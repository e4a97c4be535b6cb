"""Writes the zip layout of torch checkpoints: stored records, each aligned, with data descriptors.

Readers that map the file compute record offsets from this layout (alignment, descriptor sizes) without reading the
headers, so it is part of the format.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any, BinaryIO

from mindtorch_cpu.checksum import crc32

_LOCAL_HEADER = struct.Struct("<IHHHHHIIIHH")
_CENTRAL_HEADER = struct.Struct("<IHHHHHHIIIHHHHHII")
_LIMIT32 = 0xFFFFFFFF
_HAS_DESCRIPTOR, _UTF8 = 0x0008, 0x0800
_ZEROS = bytes(1 << 20)
_CHUNK = 1 << 21  # file systems cache a large write in large pages, which cost less to make, to write out and to map
VERSION = 3
_NEW_PLACE = 6
"""The first version whose number is in the folder `.data`."""


class ArchiveWriter:
    """Streams records to a file object that needs to know `write` only."""

    def __init__(self, stream: BinaryIO, archive_name: str, *, alignment: int = 64, checksums: bool = True) -> None:
        self._stream = stream
        self._archive_name = archive_name
        self._alignment = alignment
        self._checksums = checksums
        self.version = VERSION
        self._position = 0
        self._directory: list[tuple[bytes, int, int, int, int]] = []

    def _write(self, data: Any) -> None:
        self._stream.write(data)
        self._position += len(data)

    def reserve(self, nbytes: int) -> None:
        """Say how many bytes the records to come hold; a stream that can take the room for them does so."""
        reserve = getattr(self._stream, "reserve", None)
        if reserve is not None:
            reserve(self._position + nbytes)

    def write_record(self, name: str, data: bytes | memoryview) -> None:
        """Add a record with this content."""
        view = memoryview(data).cast("B")
        self._begin(name, len(view))
        checksum = 0
        for start in range(0, len(view), _CHUNK):
            part = view[start : start + _CHUNK]
            if self._checksums:
                checksum = crc32(part, checksum)
            self._write(part)
        self._end(name, len(view), checksum)

    def write_empty_record(self, name: str, nbytes: int) -> None:
        """Add a record with room for `nbytes`, filled with zeros; its checksum is left out."""
        self._begin(name, nbytes)
        for start in range(0, nbytes, len(_ZEROS)):
            self._write(_ZEROS[: min(len(_ZEROS), nbytes - start)])
        self._end(name, nbytes, 0)

    def _begin(self, name: str, size: int) -> None:
        self._start = self._position
        full_name = f"{self._archive_name}/{name}".encode()
        extra = _zip64_extra(size, self._start)
        header_end = self._start + _LOCAL_HEADER.size + len(full_name) + len(extra) + 4
        padding = -header_end % self._alignment
        extra += b"FB" + struct.pack("<H", padding) + b"Z" * padding
        flags = _UTF8 | (_HAS_DESCRIPTOR if size else 0)
        self._write(
            _LOCAL_HEADER.pack(0x04034B50, 0, flags, 0, 0, 0, 0, 0, 0, len(full_name), len(extra)) + full_name + extra
        )

    def _end(self, name: str, size: int, checksum: int) -> None:
        full_name = f"{self._archive_name}/{name}".encode()
        if size:
            wide = size >= _LIMIT32 or self._start >= _LIMIT32
            self._write(struct.pack("<IIQQ" if wide else "<IIII", 0x08074B50, checksum, size, size))
        self._directory.append((full_name, self._start, size, checksum, _UTF8 | (_HAS_DESCRIPTOR if size else 0)))

    def finish(self) -> None:
        """Add the closing records and the directory. Without this call the file is not an archive."""
        self.write_record(".data/version" if self.version >= _NEW_PLACE else "version", b"%d\n" % self.version)
        self.write_record(".data/serialization_id", self.serialization_id())
        start = self._position
        for name, offset, size, checksum, flags in self._directory:
            extra = _zip64_extra(size, offset)
            short_size, short_offset = min(size, _LIMIT32), min(offset, _LIMIT32)
            entry = _CENTRAL_HEADER.pack(
                0x02014B50, 0, 0, flags, 0, 0, 0, checksum, short_size, short_size, len(name), len(extra),
                0, 0, 0, 0, short_offset,
            )  # fmt: skip
            self._write(entry + name + extra)
        self._write_end(start, self._position - start)
        self._stream.flush()

    def _write_end(self, start: int, size: int) -> None:
        count, end = len(self._directory), self._position
        self._write(struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 0x031E, 45, 0, 0, count, count, size, start))
        self._write(struct.pack("<IIQI", 0x07064B50, 0, end, 1))
        short = min(count, 0xFFFF)
        self._write(
            struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, short, short, min(size, _LIMIT32), min(start, _LIMIT32), 0)
        )

    def names(self) -> set[str]:
        """The names of the records that are written."""
        start = len(self._archive_name) + 1
        return {entry[0].decode()[start:] for entry in self._directory}

    def serialization_id(self) -> bytes:
        """Forty digits that depend on the names and the contents, so equal files have equal ids."""
        names = hashlib.sha256(b"\0".join(entry[0] for entry in self._directory)).digest()
        contents = hashlib.sha256(b"".join(struct.pack("<QI", entry[2], entry[3]) for entry in self._directory))
        halves = (names, contents.digest())
        return "".join(f"{int.from_bytes(half[:8], 'little'):020d}" for half in halves).encode()


def _zip64_extra(size: int, offset: int) -> bytes:
    fields = [size, size] if size >= _LIMIT32 else []
    fields += [offset] if offset >= _LIMIT32 else []
    if not fields:
        return b""
    return struct.pack(f"<HH{len(fields)}Q", 1, 8 * len(fields), *fields)
