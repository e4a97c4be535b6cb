"""What damaged checkpoints raise: torch's text where it has one, and never a silently wrong tensor."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mindtorch as mt

from .outcomes import outcome

torch = pytest.importorskip("torch", reason="oracle")


def checkpoint(**options: Any) -> bytes:
    stream = io.BytesIO()
    torch.save({"w": torch.arange(16.0).reshape(4, 4), "b": torch.arange(100)}, stream, **options)
    return stream.getvalue()


def rewritten(change: Callable[[str, bytes], bytes | None], prefix: str | None = None) -> bytes:
    source = zipfile.ZipFile(io.BytesIO(checkpoint()))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        for name in source.namelist():
            short = name.partition("/")[2]
            content = change(short, source.read(name))
            if content is not None:
                target.writestr(name if prefix is None else prefix + short, content)
    return stream.getvalue()


def reads(module: Any, data: bytes) -> tuple[str, str]:
    kind, text = outcome(lambda: {key: value.tolist() for key, value in module.load(io.BytesIO(data)).items()})
    return kind, text.rpartition("] . ")[2]  # the oracle names its source line


def test_truncation_of_the_zip_format() -> None:
    data = checkpoint()
    for length in [0, 1, 3, 4, 30, *range(50, len(data), 61), *range(len(data) - 30, len(data))]:
        mine, theirs = reads(mt, data[:length]), reads(torch, data[:length])
        if length in (1, 3):
            assert mine[0] == "UnpicklingError"  # torch runs off its own stack here
        else:
            assert mine == theirs, length


def test_truncation_of_the_older_format() -> None:
    data = checkpoint(_use_new_zipfile_serialization=False)
    start = data.rindex(b".") + 1
    for length in range(start, len(data), 7):
        assert reads(mt, data[:length]) == reads(torch, data[:length]), length
    for length in range(1, start, 3):
        kind, _ = reads(mt, data[:length])
        assert kind in ("EOFError", "UnpicklingError", "RuntimeError"), length


@pytest.mark.parametrize("name", ["data.pkl", "version", "byteorder", "data/0", "data/1", ".format_version"])
def test_missing_record(name: str) -> None:
    data = rewritten(lambda short, content: None if short == name else content)
    assert reads(mt, data) == reads(torch, data)


CONTENTS = [
    ("version", b"99\n"), ("version", b"1\n"), ("version", b"x\n"), ("byteorder", b"middle"), ("data/0", b"abc"),
    ("data/0", b"abc" * 100), ("data.pkl", b""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content"), CONTENTS)
def test_wrong_record(name: str, content: bytes) -> None:
    data = rewritten(lambda short, old: content if short == name else old)
    assert reads(mt, data) == reads(torch, data)


@pytest.mark.parametrize("prefix", ["", "other/more/"])
def test_archive_name(prefix: str) -> None:
    data = rewritten(lambda short, content: content, prefix)
    assert reads(mt, data)[0] == reads(torch, data)[0]


def test_flipped_bits_never_change_a_value() -> None:
    data = checkpoint()
    whole = reads(mt, data)
    rng = random.Random(7)
    for position in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[position] ^= 1 << rng.randrange(8)
        kind, text = reads(mt, bytes(damaged))
        assert (kind, text) == whole or kind in ("RuntimeError", "UnpicklingError", "ValueError"), (
            position,
            kind,
            text,
        )


def test_wrong_checksum_names_the_record() -> None:
    data = bytearray(checkpoint())
    data[data.index(b"\x00\x00\x80?")] ^= 1
    kind, text = reads(mt, bytes(data))
    assert kind == "RuntimeError"
    assert text.startswith(
        "PytorchStreamReader failed reading file data/0: CRC-32 check failed. This is an internal miniz"
    )


def test_files_without_checksums_load() -> None:
    before = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(False)
    try:
        data = checkpoint()
    finally:
        torch.serialization.set_crc32_options(before)
    assert reads(mt, data) == reads(torch, checkpoint())
    mt.serialization.set_crc32_options(False)
    try:
        stream = io.BytesIO()
        mt.save(mt.ones(3), stream)
    finally:
        mt.serialization.set_crc32_options(True)
    assert torch.load(io.BytesIO(stream.getvalue())).tolist() == [1, 1, 1]


def test_tensor_outside_its_storage_is_refused() -> None:
    """Torch grows the storage and shows what memory happens to hold."""
    from collections import OrderedDict

    from mindtorch._utils import _rebuild_tensor_v2
    from mindtorch_storage.storage import TypedStorage

    storage = TypedStorage(wrap_storage=mt.UntypedStorage(16), dtype=mt.float32, _internal=True)
    for geometry, text in (
        ((0, (5,), (1,)), "are out of bounds for storage of size 16"),
        ((1, (4,), (1,)), "are out of bounds for storage of size 16"),
        ((0, (2,), (10**12,)), "are out of bounds for storage of size 16"),
        ((-1, (2,), (1,)), "invalid storage offset -1"),
        ((0, (2, 2), (1,)), "unequal size length"),
        ((0, (2,), (-1,)), "overflowed"),
        ((0, (-2,), (1,)), "negative dimension"),
    ):
        with pytest.raises(RuntimeError, match=text):
            _rebuild_tensor_v2(storage, *geometry, False, OrderedDict())


@pytest.mark.parametrize("damage", ["short", "compressed"])
def test_mapping_checks_the_record(tmp_path: Path, damage: str) -> None:
    """Torch maps whatever bytes follow."""
    source = zipfile.ZipFile(io.BytesIO(checkpoint()))
    path = tmp_path / "damaged.pt"
    method = zipfile.ZIP_DEFLATED if damage == "compressed" else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", method) as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, content[:8] if damage == "short" and name.endswith("data/1") else content)
    with pytest.raises(RuntimeError, match=r"record size|cannot be mapped"):
        mt.load(path, mmap=True)
