"""What long runs counted is kept, and added up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch_testing import record
from mindtorch_testing.record import Record, merged


def test_counts_are_added_and_lists_joined() -> None:
    kept = {"calls": 2, "kinds": {"a": 1}, "found": [[1, "x"]]}
    fresh = {"calls": 3, "kinds": {"a": 2, "b": 1}, "found": [[1, "x"], [2, "y"]], "seeds": [4]}
    assert merged(kept, fresh) == {
        "calls": 5, "kinds": {"a": 3, "b": 1}, "found": [[1, "x"], [2, "y"]], "seeds": [4]
    }  # fmt: skip


def test_a_record_goes_on_and_other_sources_start_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record"
    assert Record(path).add({"calls": 2}) == {"calls": 2}
    assert Record(path).add({"calls": 3}) == Record(path).read() == {"calls": 5}
    monkeypatch.setattr(record, "state_of_sources", lambda: "other")
    assert Record(path).read() == {}
    assert Record(path).add({"calls": 1}) == {"calls": 1}
    assert Record(None).add({"calls": 1}) == {"calls": 1}


def test_the_state_follows_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "a_product"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(record, "PACKAGES", ("a_product", "not_installed"))
    before = record.state_of_sources()
    assert record.state_of_sources() == before
    (package / "table.toml").write_text("changed")
    assert record.state_of_sources() != before


def test_several_processes_add_to_one_record(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from mindtorch_testing import record\n"
        "record.state_of_sources = lambda: 'one'\n"
        "for _ in range(50): record.Record(Path(sys.argv[1])).add({'calls': 1})"
    )
    path = tmp_path / "record"
    processes = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert json.loads(path.read_text())["counted"] == {"calls": 150}
