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
from mindtorch.serialization import _files, _neighbours

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


KILLED = """
import os, signal, sys
import mindtorch as mt
from mindtorch.serialization import _neighbours
if sys.argv[2] == "named":
    _neighbours._UNNAMED = 0
real = os.fsync
def die(descriptor):
    os.kill(os.getpid(), signal.SIGKILL)
def named(self, inner=_neighbours.Neighbour.named):
    inner(self)
    die(0)
if sys.argv[3] == "write":
    os.fsync = die
else:
    _neighbours.Neighbour.named = named
mt.save(mt.ones(10), sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("way", ["unnamed", "named"])
@pytest.mark.parametrize("moment", ["write", "name"])
def test_killed_processes_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, moment: str
) -> None:
    monkeypatch.setattr(_neighbours, "_cleaned", set())
    for number in range(3):
        command = [sys.executable, "-c", KILLED, str(tmp_path / f"model{number}.pt"), way, moment]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        # Each process removes what the one before left.
        assert len(os.listdir(tmp_path)) == (0 if _neighbours._UNNAMED and (way, moment) == ("unnamed", "write") else 1)
    mt.save(mt.ones(1), tmp_path / "model.pt")
    assert os.listdir(tmp_path) == ["model.pt"]


@pytest.mark.skipif(_neighbours.fcntl is None, reason="locks files")
def test_files_of_living_processes_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_neighbours, "_UNNAMED", 0)
    with _files.replaced_file(tmp_path / "model.pt") as stream:
        _neighbours.remove_left(str(tmp_path))
        stream.write(b"content")
    assert (tmp_path / "model.pt").read_bytes() == b"content"
    (tmp_path / ".other.00000000.tmp").touch()
    _neighbours.remove_left(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == [".other.00000000.tmp", "model.pt"]


def test_a_file_that_was_taken_for_left_over_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_neighbours, "_UNNAMED", 0)
    real, removed = _neighbours._lock, []

    def remove_once(descriptor: int) -> bool:
        if not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        return real(descriptor)

    monkeypatch.setattr(_neighbours, "_lock", remove_once)
    mt.save(mt.ones(1), tmp_path / "model.pt")
    assert os.listdir(tmp_path) == ["model.pt"]
    assert len(removed) == 1


def test_long_names(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 252 + ".pt")
    mt.save(mt.full((1,), OLD), path)
    assert value_in(path) == OLD


@pytest.mark.skipif(not _neighbours._UNNAMED, reason="files without a name are Linux's")
def test_a_file_system_that_gives_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*args: Any, **options: Any) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(_neighbours.os, "link", link)
    mt.save(mt.full((3,), NEW), tmp_path / "model.pt")
    assert value_in(tmp_path / "model.pt") == NEW
    assert os.listdir(tmp_path) == ["model.pt"]
