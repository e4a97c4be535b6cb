"""The bench runs a case on both sides and reports it; how fast they are is not a test's business."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="oracle")

BENCH = Path(__file__).resolve().parents[2] / "tools" / "bench"


@pytest.mark.slow
def test_a_case_is_measured_on_both_sides(tmp_path):
    figures = tmp_path / "figures.json"
    command = [sys.executable, str(BENCH), "--case", "add", "--case", "import", "--pairs", "1", "--json", str(figures)]
    history = ["--record", "--file", str(tmp_path / "history.jsonl")]
    done = subprocess.run([*command, *history], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = {one["name"]: one for one in json.loads(figures.read_text())}
    assert [one["error"] for one in found.values()] == ["", "", ""]
    assert all(one["ours"] > 0 and one["torch"] > 0 and one["ratio"] > 0 for one in found.values())
    assert found["memory"]["unit"] == "B"
    shown = subprocess.run([sys.executable, str(BENCH), "--history", *history[1:]], capture_output=True, text=True)
    assert [line.split()[0] for line in shown.stdout.splitlines()[2:]] == ["add", "import", "memory"]
    assert float(shown.stdout.splitlines()[2].split()[1]) == pytest.approx(found["add"]["ratio"], abs=0.006)


def test_unknown_cases_are_refused():
    done = subprocess.run([sys.executable, str(BENCH), "--case", "nothing"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "unknown case nothing" in done.stderr
