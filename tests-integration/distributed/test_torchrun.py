"""`torchrun`: what it tells workers, and what it says of those that fail, beside torch's."""

import json
import re

import pytest

pytest.importorskip("torch", reason="oracle")


def _told(folder):
    return {path.name: json.loads(path.read_text()) for path in sorted(folder.iterdir())}


def _summary(stderr):
    """The table of failures, without what differs from run to run."""
    table = stderr[stderr.rindex("ChildFailedError:") :]
    return re.sub(r"pid: \d+|PID \d+|\d{4}-\d\d-\d\d_[\d:]+", "#", table)


@pytest.mark.parametrize("ending", ["exit", "kill"])
def test_a_failed_worker_ends_the_others_and_is_named(torchrun, tmp_path, ending):
    told, said = [], []
    for library in ("mindtorch", "torch"):
        folder = tmp_path / library
        folder.mkdir()
        ended = torchrun(library, "worker.py", folder, ending, result=False)
        assert ended.returncode == 1
        told.append(_told(folder))
        said.append(_summary(ended.stderr))
    assert told[0] == told[1]
    assert said[0] == said[1]


def test_workers_are_started_again(torchrun, tmp_path):
    folder, logs = tmp_path / "told", tmp_path / "logs"
    folder.mkdir()
    options = ["--standalone", "--max-restarts", "1", "-r", "3", "-t", "1", "--log-dir", str(logs)]
    ended = torchrun("mindtorch", "worker.py", folder, "once", options=options, result=False)
    assert ended.returncode == 0, ended.stderr
    assert sorted(_told(folder)) == ["0-0.json", "0-1.json", "1-0.json", "1-1.json"]
    assert all(f"[default{rank}]:hello of {rank}" in ended.stdout for rank in (0, 1))
    files = {str(path.relative_to(logs)).partition("/")[2] for path in logs.rglob("stdout.log")}
    assert files == {f"attempt_{a}/{r}/stdout.log" for a in (0, 1) for r in (0, 1)}
