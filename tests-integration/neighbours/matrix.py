"""The matrix: environments, runs and the comparison of what the programs print."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".hatch" / "neighbours"
PAGE = ROOT / "docs" / "status" / "neighbours.md"
NEIGHBOURS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "neighbours.toml").read_text())
BASE = ["numpy", "ml_dtypes", "scipy", "safetensors"]


@dataclass(frozen=True)
class Row:
    """One neighbour: what was installed, whether its program ran, how far its numbers are from torch's."""

    name: str
    packages: str
    passed: bool
    difference: float | None
    tolerance: float
    reason: str = ""

    def line(self) -> str:
        """Return the row of the table."""
        compared = "not compared" if self.difference is None else f"{self.difference:.1e} (<= {self.tolerance:.0e})"
        result = "passes" if self.passed else f"fails: {self.reason}"
        return f"| {self.name} | {self.packages} | {result} | {compared} |"


def environment(name: str, folder: Path | None = None) -> Path:
    """Return the Python of the neighbour's environment, which is made when it is not there."""
    place = (folder or ENVIRONMENTS) / name
    python = place / "bin" / "python"
    if not python.exists():
        wanted = NEIGHBOURS[name]
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "requirements/no-torch.txt")]
        subprocess.run([*pip, *BASE, *wanted["requires"]], check=True)
        if wanted["without_dependencies"]:
            subprocess.run([*pip, "--no-deps", *wanted["without_dependencies"]], check=True)
    return python


def try_neighbour(name: str, torch: Path | None, folder: Path | None = None) -> Row:
    """Run one program on MindTorch, and on torch where a Python with torch is given."""
    python = environment(name, folder)
    wanted = NEIGHBOURS[name]
    program = HERE / "programs" / wanted["program"]
    named = wanted["without_dependencies"] or wanted["requires"]
    packages, tolerance = ", ".join(one.replace("==", " ") for one in named), float(wanted["tolerance"])
    sources = [str(path) for path in sorted((ROOT / "packages").glob("*/src"))]
    more = wanted.get("environment", {})
    ours = _run([str(python), "-m", "mindtorch", "run", str(program)], sources, more)
    if isinstance(ours, str):
        return Row(name, packages, False, None, tolerance, ours)
    if torch is None:
        return Row(name, packages, True, None, tolerance)
    libraries = [str(path) for path in (python.parents[1] / "lib").glob("python*/site-packages")]
    theirs = _run(_on_torch(torch, program, wanted.get("before_torch", "")), libraries, more)
    if isinstance(theirs, str):
        return Row(name, packages, False, None, tolerance, f"on torch: {theirs}")
    far = distance(ours, theirs)
    return Row(name, packages, far <= tolerance, far, tolerance, "" if far <= tolerance else "numbers differ")


def _on_torch(torch: Path, program: Path, before: str) -> list[str]:
    """Return the command that runs the program on torch, `before` first where a library does not load without it."""
    if not before:
        return [str(torch), str(program)]
    start = f"import runpy, sys; sys.path.insert(0, {str(program.parent)!r})\n{before}\n"
    return [str(torch), "-c", f"{start}runpy.run_path({str(program)!r}, run_name='__main__')"]


def _run(command: list[str], path: list[str], more: dict[str, str]) -> Any:
    """Return what the program printed last, read as JSON; a text with the reason when it failed."""
    settings = {"PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **more}
    kept = {key: value for key, value in os.environ.items() if key not in ("MINDTORCH", "PYTHONPATH")}
    done = subprocess.run(command, capture_output=True, text=True, env={**kept, **settings}, cwd=HERE)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return lines[-1][:200] if lines else f"status {done.returncode}"
    return json.loads(done.stdout.strip().splitlines()[-1])


def distance(ours: Any, theirs: Any) -> float:
    """Return the largest difference, relative where it is of a number above 1, infinity when the forms or other values differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and list(ours) == list(theirs):
        return max((distance(ours[key], theirs[key]) for key in ours), default=0.0)
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return max((distance(one, other) for one, other in zip(ours, theirs, strict=True)), default=0.0)
    if isinstance(ours, float | int) and isinstance(theirs, float | int) and type(ours) is type(theirs):
        return abs(ours - theirs) / max(1.0, abs(theirs))
    return 0.0 if type(ours) is type(theirs) and ours == theirs else math.inf


def page(rows: list[Row], before: str = "") -> str:
    """Return the status page; neighbours that are not in ``rows`` keep the line they have in the page ``before``."""
    known = {line.split(" | ")[0].removeprefix("| "): line for line in before.splitlines() if " | " in line}
    shown = {**known, **{row.name: row.line() for row in rows}}
    lines = [
        "# Neighbours: libraries on MindTorch, torch not installed",
        "",
        "Written by `python tests-integration/neighbours --torch PYTHON --write`: a program per library, each in an",
        "environment of its own without torch, then on torch with the same libraries; the largest difference of all numbers",
        "printed (losses of every step, vectors, gradients).",
        "",
        "| neighbour | packages | result | difference from torch |",
        "| --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *(shown[name] for name in NEIGHBOURS if name in shown)]) + "\n"
