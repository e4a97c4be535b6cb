"""The bench runs a case on both sides and reports it; how fast they are is not a test's business."""

import ast
import importlib
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


def names_of(module):
    """What a module of cases defines at its top, known without importing torch."""
    for node in ast.parse((BENCH / f"{module}.py").read_text()).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name))


def test_every_case_is_defined_and_no_two_share_a_name(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    catalogue = importlib.import_module("catalogue")
    groups = {name: cases for name, cases in catalogue.GROUPS.items() if name != "memory"}
    names = [name for cases in groups.values() for name in cases]
    assert sorted(names) == sorted(set(names))
    defined = {module: set(names_of(module)) for module in {case.module for case in catalogue.CASES.values()}}
    assert [name for name, case in catalogue.CASES.items() if name not in defined[case.module]] == []
    assert set(catalogue.MEMORY.values()) <= set(names)


@pytest.mark.parametrize(
    ("ratios", "words"),
    [
        ([0.5, 0.9], "ahead everywhere"),
        ([1.5, 1.1], "behind everywhere"),
        ([0.5, 1.1], "behind from 256"),
        ([1.5, 0.7], "ahead from 256"),
    ],
)
def test_curves_say_where_they_cross(monkeypatch, ratios, words):
    monkeypatch.syspath_prepend(str(BENCH))
    assert importlib.import_module("curves").crossings((16, 256), ratios) == words


def test_a_case_lies_under_the_roof(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    roofline = importlib.import_module("roofline")
    peaks = {"products": {"float32": 1e9, "float64": 5e8}, "bytes": [[1000, 1e9], [10_000, 5e8]], "call": 1e-6}
    # A product of 1 ms, an addition of 10 us in the outer memory, a view that was not listed.
    answer = {"name": "gelu", "seconds": 2e-3, "seen": [["float32", 10**6, 100], ["float32", 0, 5000]]}
    found = roofline.point(answer, peaks)
    assert (found.products, found.bytes) == pytest.approx((1e-3, 1e-5))
    assert found.fraction == pytest.approx(0.505)
    assert found.bound() == "products"
    assert "arithmetic" in found.reason()
    busy = roofline.point({**answer, "seconds": 2e-6, "seen": [["float32", 0, 64]] * 2}, peaks)
    assert busy.bound() == "calls"
    assert busy.reason() == "2 calls of operators are 100% of the time"


@pytest.mark.slow
def test_the_roof_is_measured():
    roofline = [str(BENCH / "roofline.py"), "--case", "add", "--case", "linear_64_784_256"]
    done = subprocess.run([sys.executable, *roofline], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "| calls |" in done.stdout
    assert "| products |" in done.stdout
    assert "Not measured" not in done.stdout


@pytest.mark.slow
def test_a_curve_and_peak_memory_are_measured():
    curve = [str(BENCH / "curves.py"), "--curve", "convolution", "--pairs", "1"]
    done = subprocess.run([sys.executable, *curve], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "convolution 3 × 3" in done.stdout
    assert "not measured" not in done.stdout
    peak = subprocess.run([sys.executable, str(BENCH), "--case", "agent_act_memory"], capture_output=True, text=True)
    assert peak.returncode == 0, peak.stderr
    assert "MB" in peak.stdout
