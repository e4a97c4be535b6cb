"""The program that forks while threads import and compute, on a few forks."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from mindtorch_testing import forks
from mindtorch_testing.record import Record

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")


@pytest.mark.slow
def test_children_end() -> None:
    result = forks.run(60, seed=5)
    assert result["findings"] == []
    assert result["counts"] == {forks.ENDED: 60}
    assert "| ended | 60 |" in forks.page(result)


def test_a_run_that_was_stopped_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seeds = []

    def rounds(seed: int, most: int) -> dict[str, Any]:
        seeds.append(seed)
        return {"counts": {forks.ENDED: min(most, 7)}, "findings": [f"of {seed}"] if seed == 1 else []}

    monkeypatch.setattr(forks, "run_round", rounds)
    forks.run(10, record=Record(tmp_path / "record"))
    forks.run(20, record=Record(tmp_path / "record"))
    result = forks.run(25, seed=1, record=Record(tmp_path / "record"))
    assert seeds == [0, 1, 2, 3, forks.FAR]
    assert result == {"counts": {forks.ENDED: 25}, "rounds": {"0": 4, "1": 1}, "findings": ["of 1"]}
    assert "25 children of 5 processes, seeds 0, 1, Python" in forks.page(result)


def test_what_went_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "SECONDS", 1)
    with forks.written_down() as log:
        assert forks.outcome(lambda: None, log) == forks.ENDED
        assert forks.outcome(lambda: forks.resolve("mindtorch.nowhere"), log) == forks.RAISED
        assert "No module named 'mindtorch.nowhere'" in forks.taken(log)
        assert forks.outcome(lambda: forks.time.sleep(20), log) == forks.HUNG
        assert "in <lambda>" in forks.taken(log)
        assert forks.outcome(lambda: os.kill(os.getpid(), signal.SIGKILL), log) == "died (-9)"
