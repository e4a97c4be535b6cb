"""Suites of libraries on both sides: each test's outcome from pytest's report, and the board of them, which only improves."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".hatch" / "library_suites"
BOARD = HERE / "scoreboard.json"
PAGE = ROOT / "docs" / "status" / "library-suites.md"
LIBRARIES: dict[str, dict[str, Any]] = tomllib.loads((HERE / "libraries.toml").read_text())
BASE = ["numpy", "ml_dtypes", "scipy", "safetensors", "pytest", "pytest-timeout", "parameterized", "hypothesis"]

Outcomes = dict[str, str]
"""Of every test that was not skipped: `pass`, or `fail: ` and the reason."""
Board = dict[str, dict[str, Any]]
"""By library: the revision of its tests, how many pass on torch, those of them that fail here, and what fails there."""


def environment(name: str) -> Path:
    """Return the Python of the library's environment, which is made when it is not there."""
    python = ENVIRONMENTS / name / "bin" / "python"
    if not python.exists():
        wanted = LIBRARIES[name]
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "requirements/no-torch.txt")]
        subprocess.run([*pip, *BASE, *wanted["requires"]], check=True)
        if wanted["without_dependencies"]:
            subprocess.run([*pip, "--no-deps", *wanted["without_dependencies"]], check=True)
    return python


def run(name: str, sources: Path, torch: Path | None, built: Path | None = None) -> Outcomes:
    """Run a library's tests on a Python with torch or, without one, on MindTorch: in `built`, or from the pure sources."""
    wanted, python = LIBRARIES[name], environment(name)
    packages = [str(path) for path in sorted((ROOT / "packages").glob("*/src"))]
    libraries = [str(path) for path in (python.parents[1] / "lib").glob("python*/site-packages")]
    command = [
        str(torch or built or python),
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--timeout",
        "900",  # what hangs ends; on a busy machine slow tests do not
        "-W",
        "ignore",
    ]
    if torch is None:
        command += ["-p", "mindtorch_proxy.pytest_plugin", "--mindtorch=1"]
    settings = {
        **{key: value for key, value in os.environ.items() if key not in ("MINDTORCH", "PYTHONPATH")},
        **wanted.get("environment", {}),
        "PYTHONPATH": os.pathsep.join(libraries if torch or built else packages),
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    with tempfile.TemporaryDirectory() as place:
        # The tests alone: the library is the one that is installed. Where they import each other, they say as what.
        root, checkout = (
            Path(place) / wanted.get("as", "tests_of_library"),
            sources / wanted["repository"].partition("/")[2],
        )
        shutil.copytree(checkout / wanted["tests"], root)
        for beside in wanted.get("beside", []):
            source = checkout / beside
            (shutil.copytree if source.is_dir() else shutil.copyfile)(source, Path(place) / source.name)
        start = Path(place) if "as" in wanted else root
        if "as" in wanted:
            settings["PYTHONPATH"] = os.pathsep.join([place, settings["PYTHONPATH"]])
        report = Path(place) / "report.xml"
        paths = [str(root / one) for one in wanted.get("files", ["."])]
        ignored = [f"--ignore={root / one}" for one in wanted.get("ignored", [])]
        done = subprocess.run(
            [*command, f"--junitxml={report}", f"--rootdir={start}", *wanted.get("arguments", []), *ignored, *paths],
            capture_output=True,
            text=True,
            env=settings,
            cwd=start,
        )
        if not report.exists():
            raise RuntimeError(f"{name}: no test ran:\n{done.stdout[-3000:]}\n{done.stderr[-2000:]}")
        return _read(report, place)


def _read(report: Path, place: str) -> Outcomes:
    found: Outcomes = {}
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}".replace(place, "")
        failure = next((one for one in case if one.tag in ("failure", "error")), None)
        if failure is not None:
            lines = (failure.get("message") or "").strip().splitlines() or ["no reason recorded"]
            found[name] = f"fail: {lines[0][:200].replace(place, '')}"
        elif not any(one.tag == "skipped" for one in case):
            found.setdefault(name, "pass")
    return found


def row(name: str, revision: str, ours: Outcomes, theirs: Outcomes) -> dict[str, Any]:
    """Return what the board holds of a library."""
    passing = [test for test, status in theirs.items() if status == "pass"]
    fails = {test: ours.get(test, "fail: it did not run") for test in passing if ours.get(test) != "pass"}
    broken = sorted(test for test, status in theirs.items() if status != "pass")
    return {"revision": revision, "torch": len(passing), "fails": dict(sorted(fails.items())), "fails on torch": broken}


def lost(board: Board, name: str, ours: Outcomes) -> list[str]:
    """Return a line for each test that fails here now and does not stand among the board's failures."""
    held = board.get(name, {"fails": {}, "fails on torch": []})
    known = {*held["fails"], *held["fails on torch"]}
    return [f"{name} {test}: {status}" for test, status in ours.items() if status != "pass" and test not in known]


def load() -> Board:
    """Return the board."""
    return json.loads(BOARD.read_text()) if BOARD.exists() else {}


def save(board: Board) -> None:
    """Write the board, and the page of it."""
    BOARD.write_text(json.dumps(board, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(page(board))


def page(board: Board) -> str:
    """Return the status page."""
    lines = [
        "# Libraries' own tests, torch not installed",
        "",
        "Written by `python tests-integration/library_suites update --sources DIR --torch PYTHON`: the tests of each library are",
        "run on torch and, in an environment without torch, on MindTorch; of those that pass on torch it counts those that pass",
        "here. `tests-integration/library_suites/scoreboard.json` names the others; it may only shrink.",
        "",
        "| library | tests of | pass on torch | of these pass here | share |",
        "| --- | --- | --- | --- | --- |",
    ]
    reasons: Counter[str] = Counter()
    for name, held in sorted(board.items()):
        total, failed = held["torch"], len(held["fails"])
        source = f"{LIBRARIES[name]['repository']} {held['revision']}"
        lines.append(f"| {name} | {source} | {total} | {total - failed} | {(total - failed) / max(1, total):.2%} |")
        reasons.update(f"{name}: {re.sub(r'[0-9.]+', 'N', reason)}" for reason in held["fails"].values())
    return (
        "\n".join([*lines, "", *(f"- {count} × {reason}" for reason, count in reasons.most_common())]).rstrip() + "\n"
    )
