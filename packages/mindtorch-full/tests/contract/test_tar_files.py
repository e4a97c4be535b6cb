"""Files of torch 0.1: a tar archive of storages, tensors and a pickle, read by both sides from the same bytes."""

from __future__ import annotations

import io
import pickle
import struct
import tarfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindtorch as mt

from .outcomes import outcome

torch = pytest.importorskip("torch", reason="oracle")

MATRIX, ROW, COUNTS = 11, 12, 13  # keys of tensors
FLOATS, PART, INTS = 1, 2, 3  # keys of storages


class Named:
    """Pickles as a global of torch, without an import of it."""

    def __init__(self, name: str) -> None:
        self.name = name


class Placed:
    """Pickles as a persistent id."""

    def __init__(self, saved_id: Any) -> None:
        self.saved_id = saved_id


class Writer(pickle._Pickler):
    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, Named):
            self.write(b"c" + obj.name.replace(" ", "\n").encode() + b"\n")
        else:
            super().save(obj, save_persistent_id)

    def persistent_id(self, obj: Any) -> Any:
        return obj.saved_id if isinstance(obj, Placed) else None


def pickled(value: Any) -> bytes:
    stream = io.BytesIO()
    Writer(stream, 2).dump(value)
    return stream.getvalue()


def described(key: int, storage: int, kind: str, offset: int, size: list[int], stride: list[int]) -> bytes:
    geometry = struct.pack(f"<ii{len(size)}q{len(stride)}qq", len(size), 0, *size, *stride, offset)
    return pickled((key, storage, Named(f"torch {kind}"))) + geometry


def parts() -> dict[str, bytes]:
    """A matrix, a row that shares its memory, and counts."""
    floats, ints = np.arange(12, dtype="<f4"), np.arange(5, dtype="<i8")
    storages = pickled(2)
    storages += pickled((FLOATS, "cpu", Named("torch FloatStorage"))) + struct.pack("<q", 12) + floats.tobytes()
    storages += pickled((INTS, "cpu", Named("torch LongStorage"))) + struct.pack("<q", 5) + ints.tobytes()
    storages += pickled([(PART, FLOATS, 4, 4)])
    tensors = pickled(3) + described(MATRIX, FLOATS, "FloatTensor", 0, [4, 3], [1, 4])
    tensors += described(ROW, PART, "FloatTensor", 1, [3], [1]) + described(COUNTS, INTS, "LongTensor", 0, [5], [1])
    names = {"matrix": MATRIX, "row": ROW, "counts": COUNTS}
    saved = OrderedDict((name, Placed(str(key))) for name, key in names.items())
    return {"storages": storages, "tensors": tensors, "pickle": pickled(saved)}


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(changed: dict[str, bytes | None]) -> Path:
        path = tmp_path / "old.pt"
        with tarfile.open(path, "w:", format=tarfile.PAX_FORMAT) as archive:
            for name, content in {**parts(), **changed}.items():
                if content is not None:
                    member = tarfile.TarInfo(name)
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        return path

    return write


def read(module: Any, path: Path, **options: Any) -> tuple[str, str]:
    def read() -> Any:
        loaded = module.load(path, **{"weights_only": False, **options})
        shared = loaded["row"].untyped_storage().data_ptr() - loaded["matrix"].untyped_storage().data_ptr()
        return [(n, v.dtype, tuple(v.shape), v.stride(), v.storage_offset(), v.tolist()) for n, v in loaded.items()] + [
            shared
        ]

    return outcome(read)


def test_values_geometry_and_sharing(write: Any) -> None:
    path = write({})
    mine = read(mt, path)
    assert mine[0] == "value", mine
    assert mine == read(torch, path)


@pytest.mark.parametrize("location", [None, "cpu", {"cpu": "cpu"}])
def test_map_location(write: Any, location: Any) -> None:
    path = write({})
    assert read(mt, path, map_location=location) == read(torch, path, map_location=location)


def test_restricted_loading_is_refused_with_the_text_of_torch(write: Any) -> None:
    path = write({})
    mine = read(mt, path, weights_only=True)
    assert mine[0] == "RuntimeError"
    assert mine == read(torch, path, weights_only=True)


@pytest.mark.parametrize("name", ["storages", "tensors", "pickle"])
def test_missing_parts(write: Any, name: str) -> None:
    path = write({name: None})
    mine = read(mt, path)
    assert mine[0] == "KeyError"
    assert mine == read(torch, path)


@pytest.mark.parametrize("count", [2**40, -1])
def test_a_count_that_the_file_does_not_hold_is_refused_before_memory_is_taken(write: Any, count: int) -> None:
    start = pickled(1) + pickled((FLOATS, "cpu", Named("torch FloatStorage"))) + struct.pack("<q", count)
    assert read(mt, write({"storages": start}))[0] == "RuntimeError"


def test_geometry_outside_the_storage_is_refused(write: Any) -> None:
    wide = pickled(1) + described(MATRIX, FLOATS, "FloatTensor", 0, [4, 300], [1, 4])
    mine = read(mt, write({"tensors": wide}))
    assert mine[0] == "RuntimeError"
    assert "out of bounds for storage" in mine[1]
