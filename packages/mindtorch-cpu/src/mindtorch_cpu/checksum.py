"""The checksum of the records of archives: zlib's, or the native module's, which is several times as fast."""

from __future__ import annotations

import zlib
from typing import Any

_modules: list[Any] = []


def install(module: Any) -> None:
    """Let the native module compute checksums."""
    _modules[:] = [module]


def crc32(data: bytes | memoryview, before: int = 0) -> int:
    """Return the CRC-32 of what has the checksum `before` and these bytes after it."""
    for module in _modules:
        found: int = module.crc32(data, before)
        return found
    return zlib.crc32(data, before)
