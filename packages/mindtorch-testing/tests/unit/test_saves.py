"""Savers are killed, and a checkpoint that is not whole afterwards is told."""

import io
import time

import pytest

from mindtorch_testing import saves

pytestmark = pytest.mark.filterwarnings("ignore")


def torn(folder, number):
    """Write over the checkpoint in place, slowly, as no saver should."""
    whole = io.BytesIO()
    saves.mt.save(saves._state(number), whole)
    content = whole.getvalue()
    with open(folder / "model.pt", "wb") as stream:
        stream.write(content[: len(content) // 2])
        stream.flush()
        time.sleep(0.05)
        stream.write(content[len(content) // 2 :])


def test_every_kind_of_checkpoint_survives():
    result = saves.run(2 * len(saves.KINDS), seed=1)
    assert result["findings"] == []
    assert set(result["counts"].values()) == {2}
    assert "Findings: 0" in saves.page(result)


def test_a_checkpoint_written_in_place_is_found(monkeypatch):
    monkeypatch.setattr(saves, "KINDS", {"torn": (torn, saves._load)})
    monkeypatch.setattr(saves, "_save_anew", lambda save, folder: save(folder, 1))
    findings = saves.run(6)["findings"]
    assert any("does not load" in finding for finding in findings)
    assert all(finding.startswith("torn, kill") for finding in findings)


def test_numbers_of_two_saves_are_found(tmp_path):
    state = saves._state(3)
    saves.mt.save(state, tmp_path / "model.pt")
    assert saves.problem_of(saves._load, tmp_path, 3) == ""
    assert saves.problem_of(saves._load, tmp_path, 2) == ""
    assert saves.problem_of(saves._load, tmp_path, 5) == "holds [3.0] after save 5"
    state["layer0"][7] = 4.0
    saves.mt.save(state, tmp_path / "model.pt")
    assert saves.problem_of(saves._load, tmp_path, 3) == "holds [3.0, 4.0] after save 3"


def test_a_saver_that_ends_by_itself_is_found(tmp_path):
    def once(folder, number):
        if number:
            raise OSError("no")
        saves._save(folder, number)

    assert saves._killed(once, tmp_path, 1, 0.0) == -1
