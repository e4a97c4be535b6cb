"""The checksum of archives, against zlib's, for every length of what is left beside whole blocks."""

from __future__ import annotations

import random
import zlib

import pytest

from mindtorch_cpu.checksum import crc32

BYTES = random.Random(22).randbytes(5000)


@pytest.mark.parametrize("start", [0, 1, 7])
def test_every_length(start: int) -> None:
    for length in [*range(300), 1024, 4096, 4907]:
        part = BYTES[start : start + length]
        assert crc32(part) == zlib.crc32(part), length


def test_goes_on_from_a_checksum() -> None:
    for cut in (0, 1, 63, 64, 65, 1000, 4999, 5000):
        assert crc32(BYTES[cut:], crc32(BYTES[:cut])) == zlib.crc32(BYTES)


def test_takes_buffers_as_zlib_does() -> None:
    for data in (b"", bytearray(BYTES), memoryview(BYTES)[3:], memoryview(bytearray(100))):
        assert crc32(data) == zlib.crc32(data)
    with pytest.raises(TypeError):
        crc32("text")  # type: ignore[arg-type]
    with pytest.raises(BufferError):
        crc32(memoryview(BYTES)[::2])
