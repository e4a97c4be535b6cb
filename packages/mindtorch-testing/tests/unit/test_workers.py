"""The program that starts and kills workers of data loaders, on a few of them."""

from __future__ import annotations

import pytest

from mindtorch_testing import workers

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def test_passes_end_and_nothing_stays_behind() -> None:
    result = workers.run(24, seed=3, spawned=0)
    assert result["findings"] == []
    assert any("killed" in name for name in result["counts"])
    assert "Findings: 0" in workers.page(result)


@pytest.mark.slow
def test_spawned_workers() -> None:
    assert workers.run(8, seed=1, spawned=1)["findings"] == []


def test_a_worker_that_dies_unreported_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers.Rows, "__getitem__", lambda self, index: {"index": workers.mt.tensor(0)})
    assert "samples" in str(workers.one_pass("fork", "file_descriptor", None, given_up=False))
    assert workers.one_pass("fork", "file_descriptor", 3, given_up=False) == "a killed worker was not reported"
