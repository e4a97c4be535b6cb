"""The program that forks while threads import and compute, on a few forks."""

from __future__ import annotations

import os
import signal

import pytest

from mindtorch_testing import forks

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")


@pytest.mark.slow
def test_children_end() -> None:
    result = forks.run(60, seed=5)
    assert result["findings"] == []
    assert result["counts"] == {forks.ENDED: 60}
    assert "| ended | 60 |" in forks.page(result)


def test_what_went_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "SECONDS", 1)
    with forks.written_down() as log:
        assert forks.outcome(lambda: None, log) == forks.ENDED
        assert forks.outcome(lambda: forks.resolve("mindtorch.nowhere"), log) == forks.RAISED
        assert "No module named 'mindtorch.nowhere'" in forks.taken(log)
        assert forks.outcome(lambda: forks.time.sleep(20), log) == forks.HUNG
        assert "in <lambda>" in forks.taken(log)
        assert forks.outcome(lambda: os.kill(os.getpid(), signal.SIGKILL), log) == "died (-9)"
