"""A crash while saving leaves the old file whole."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mindtorch as mt
from mindtorch.serialization import _files

OLD, NEW = 1.0, 2.0


def value_in(path: Path) -> float:
    return mt.load(path)[0].item()


class FailingStream:
    """Stops writing after some bytes, as a full disk does."""

    def __init__(self, stream: Any, limit: int) -> None:
        self._stream, self._left = stream, limit

    def write(self, data: Any) -> None:
        if len(data) > self._left:
            self._stream.write(bytes(data)[: self._left])
            raise OSError(28, "No space left on device")
        self._left -= len(data)
        self._stream.write(data)

    def flush(self) -> None:
        self._stream.flush()


@pytest.mark.parametrize("zip_format", [True, False])
@pytest.mark.parametrize("limit", [0, 1, 100, 700, 1500])
def test_write_error_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, zip_format: bool
) -> None:
    path = tmp_path / "model.pt"
    mt.save(mt.full((1000,), OLD), path)
    real = _files.replaced_file

    class Replaced:
        def __init__(self, target: Any) -> None:
            self._inner = real(target)

        def __enter__(self) -> Any:
            return FailingStream(self._inner.__enter__(), limit)

        def __exit__(self, *error: Any) -> Any:
            return self._inner.__exit__(*error)

    monkeypatch.setattr(_files, "replaced_file", Replaced)
    with pytest.raises(OSError, match="No space left"):
        mt.save(mt.full((1000,), NEW), path, _use_new_zipfile_serialization=zip_format)
    monkeypatch.undo()
    assert value_in(path) == OLD
    assert os.listdir(tmp_path) == ["model.pt"]


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
def test_failure_of_each_last_step_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "model.pt"
    mt.save(mt.full((10,), OLD), path)

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(_files.os, step, fail)
    with pytest.raises(OSError, match="Input/output"):
        mt.save(mt.full((10,), NEW), path)
    monkeypatch.undo()
    assert value_in(path) == OLD
    assert os.listdir(tmp_path) == ["model.pt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_error_while_pickling_keeps_the_old_file(tmp_path: Path, error: type[BaseException]) -> None:
    class Fails:
        def __reduce__(self) -> Any:
            raise error("no")

    path = tmp_path / "model.pt"
    mt.save(mt.full((10,), OLD), path)
    with pytest.raises(error):
        mt.save([mt.full((10,), NEW), Fails()], path)
    assert value_in(path) == OLD
    assert os.listdir(tmp_path) == ["model.pt"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("record", [0, 2, 4, 6])
def test_killed_process_keeps_the_old_file(tmp_path: Path, record: int) -> None:
    path = tmp_path / "model.pt"
    mt.save(mt.full((1000,), OLD), path)
    code = f"""
import os, signal
import mindtorch as mt
from mindtorch.serialization._archive_writer import ArchiveWriter
real, count = ArchiveWriter.write_record, 0
def write_record(self, name, data):
    global count
    if count == {record}:
        self._stream.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    count += 1
    real(self, name, data)
ArchiveWriter.write_record = write_record
mt.save(mt.full((1000,), {NEW}), {str(path)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    assert value_in(path) == OLD


def test_success_replaces_content_and_keeps_permissions(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    mt.save(mt.full((1,), OLD), path)
    os.chmod(path, 0o640)
    mt.save(mt.full((1,), NEW), path)
    assert value_in(path) == NEW
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    mt.save(1, tmp_path / "model.pt")
    (tmp_path / "other").touch()
    assert (tmp_path / "model.pt").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.pt", tmp_path / "link.pt"
    mt.save(mt.full((1,), OLD), target)
    link.symlink_to(target)
    mt.save(mt.full((1,), NEW), link)
    assert link.is_symlink()
    assert value_in(target) == NEW


def test_devices_are_written_directly() -> None:
    mt.save(mt.ones(3), os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.parametrize(("code", "refused"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EOPNOTSUPP, False)])
def test_room_is_taken_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, refused: bool
) -> None:
    path, asked = tmp_path / "model.pt", []
    mt.save(mt.full((1,), OLD), path)

    def fallocate(descriptor: int, mode: int, start: int, count: int) -> int:
        asked.append((mode, start, count > 8 << 20))
        ctypes.set_errno(code)
        return -1

    monkeypatch.setattr(_files, "_system_fallocate", lambda: fallocate)
    values = mt.full((2 << 20,), NEW)
    if refused:
        with pytest.raises(OSError, match=os.strerror(code)):
            mt.save(values, path)
    else:
        mt.save(values, path)
    assert asked == [(1, 0, True)]
    assert value_in(path) == (OLD if refused else NEW)
    assert os.listdir(tmp_path) == ["model.pt"]


@pytest.mark.skipif(sys.platform != "linux", reason="reserving is Linux's")
def test_what_was_reserved_is_not_part_of_the_file(tmp_path: Path) -> None:
    with _files.replaced_file(tmp_path / "file") as stream:
        stream.reserve(9 << 20)
        stream.write(b"content")
    assert (tmp_path / "file").read_bytes() == b"content"
