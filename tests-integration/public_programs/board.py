"""The board: copies of public programs are run on both sides, and what they print and learn is compared."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENT = ROOT / ".hatch" / "public_programs"
PAGE = ROOT / "docs" / "status" / "public-programs.md"
TABLE: dict[str, Any] = tomllib.loads((HERE / "programs.toml").read_text())
PROGRAMS: dict[str, dict[str, Any]] = TABLE["program"]
BASE = ["numpy", "ml_dtypes", "scipy", "safetensors"]
SECONDS = 600

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_TIMED = re.compile(
    r"(?:\b(?:time|iter_dt|Time|Data|ms/batch|dt|mfu)\b[ :=|]*[-\d.]+ ?(?:ms|s|%)?(?: ?\( *[\d.]+\))?)"
    r"|[-\d.]+ ?(?:ms|seconds|sec|s|it/s|%\|)(?![a-zA-Z])|0x[0-9a-f]+|\bid=\d+"
)


@dataclass(frozen=True)
class Row:
    """One program: what of it was run, whether it ran, how far its numbers are from torch's."""

    name: str
    source: str
    commands: int
    passed: bool
    difference: float | None
    tolerance: float
    losses: int = 0
    weights: int = 0
    reason: str = ""

    def line(self) -> str:
        """Return the row of the table."""
        compared = "not compared" if self.difference is None else f"{self.difference:.1e} (<= {self.tolerance:.0e})"
        result = "passes" if self.passed else f"fails: {self.reason}"
        counted = f"{self.commands} | {self.losses} | {self.weights}"
        return f"| {self.name} | {self.source} | {counted} | {result} | {compared} |"


@dataclass(frozen=True)
class Run:
    """What the commands of one side printed and reported."""

    printed: list[str]
    losses: list[float]
    weights: list[float]


class Failed(Exception):
    """A program ended with an error; the text has its last line."""


def environment() -> Path:
    """Return the Python of the programs' environment, which is made when it is not there."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "requirements/no-torch.txt")]
        subprocess.run([*pip, *BASE, *TABLE["environment"]["requires"]], check=True)
        subprocess.run([*pip, "--no-deps", *TABLE["environment"]["without_dependencies"]], check=True)
    return python


def try_program(name: str, sources: Path, torch: Path | None, built: Path | None = None) -> Row:
    """Run one program on MindTorch (in `built`, or from the sources, without native modules), and on torch where given."""
    wanted = PROGRAMS[name]
    known = TABLE["repositories"][wanted["repository"]]
    source, commands, tolerance = (
        f"{known['at']} {known['commit']}",
        len(wanted["commands"]),
        float(wanted["tolerance"]),
    )
    python = environment()
    packages = [str(path) for path in sorted((ROOT / "packages").glob("*/src"))]
    libraries = [str(path) for path in (python.parents[1] / "lib").glob("python*/site-packages")]
    try:
        ours = _run(
            wanted, sources, [str(built or python), "-m", "mindtorch", "run"], libraries if built else packages, ""
        )
        if torch is None:
            return Row(name, source, commands, True, None, tolerance)
        theirs = _run(wanted, sources, [str(torch)], libraries, TABLE["environment"]["before_torch"])
    except Failed as failure:
        return Row(name, source, commands, False, None, tolerance, reason=str(failure))
    far = max(
        _apart(ours.losses, theirs.losses),
        _apart(ours.weights, theirs.weights),
        _texts_apart(ours.printed, theirs.printed),
    )
    reason = "" if far <= tolerance else _first_difference(ours, theirs, tolerance)
    return Row(
        name, source, commands, far <= tolerance, far, tolerance, len(theirs.losses), len(theirs.weights) // 2, reason
    )


def _run(wanted: dict[str, Any], sources: Path, python: list[str], path: list[str], before: str) -> Run:
    """Run all commands in a fresh copy of the sources; Failed where one does."""
    printed, losses, weights = [], [], []
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "sources"
        shutil.copytree(sources / wanted["repository"], root, ignore=shutil.ignore_patterns(".git"))
        folder = root / wanted.get("folder", "")
        subprocess.run(
            [str(environment()), str(HERE / "data.py"), wanted.get("data", "nothing"), str(folder)], check=True
        )
        own = [str(root / one) for one in wanted.get("path", [])]
        if before:  # in every process that a program starts, too
            own.append(place)
            (Path(place) / "sitecustomize.py").write_text(before)
        settings = _settings(wanted, [*path, *own])
        for number, command in enumerate(wanted["commands"]):
            report, logs = Path(place) / f"{number}.json", Path(place) / f"{number}.logs"
            watched = [str(HERE / "watched.py"), str(report), *shlex.split(command)]
            said = _said(wanted, [*python, *_launcher(wanted, logs), *watched], settings, folder, report, logs)
            printed += re.sub(wanted.get("unlike", "(?!)"), "", said.replace(place, ""), flags=re.M).splitlines()
            for facts in map(json.loads, map(Path.read_text, _reports(report))):
                losses += facts["losses"]
                weights += [value for pair in facts["weights"] for value in pair]
    return Run(printed, losses, weights)


def _settings(wanted: dict[str, Any], path: list[str]) -> dict[str, str]:
    """Return the environment of a program."""
    own = {"WATCHED_ACCELERATORS": str(wanted["accelerators"])} if "accelerators" in wanted else {}
    return {
        **{key: value for key, value in os.environ.items() if key not in ("MINDTORCH", "PYTHONPATH")},
        "PYTHONPATH": os.pathsep.join(path),
        "WATCHED_BEFORE": wanted.get("before", ""),
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
        "PYTHONHASHSEED": "0",  # the order of sets of strings is the same on both sides
        "COLUMNS": "80",
        **own,
    }


def _said(
    wanted: dict[str, Any], command: list[str], settings: dict[str, str], folder: Path, report: Path, logs: Path
) -> str:
    """Run a command and return what it wrote; Failed where it does not end well or reports nothing."""
    program = command[command.index(str(report)) + 1]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=settings,
            cwd=folder,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{program}: no end after {SECONDS} s") from None
    if done.returncode or len(_reports(report)) != wanted.get("ranks", 1):
        side = "on torch: " if "mindtorch" not in command else ""
        said = _of_ranks(logs, "stderr") or done.stderr
        lines = said.strip().splitlines() or [f"status {done.returncode}"]
        raise Failed(f"{side}{program}: {lines[-1][:200]}")
    return _of_ranks(logs, "stdout") or done.stdout


def _reports(report: Path) -> list[Path]:
    """Return the reports of a command: of every rank one."""
    return sorted(report.parent.glob(f"{report.name}*"))


def _launcher(wanted: dict[str, Any], logs: Path) -> list[str]:
    """Return what starts the ranks of a program, each with files of what it writes."""
    if "ranks" not in wanted:
        return []
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(wanted["ranks"])]
    return [*launcher, "--redirects", "3", "--log-dir", str(logs), *shlex.split(wanted.get("options", ""))]


def _of_ranks(logs: Path, stream: str) -> str:
    """Return what all ranks wrote, one after the other, those that were started again behind the others."""
    return "".join(file.read_text() for file in sorted(logs.rglob(f"{stream}.log")))


def _apart(ours: list[float], theirs: list[float]) -> float:
    """Return the largest difference, relative where it is of a number above 1, infinity when there are other counts."""
    if len(ours) != len(theirs):
        return math.inf
    return max((_gap(one, other) for one, other in zip(ours, theirs, strict=True)), default=0.0)


def _gap(one: float, other: float) -> float:
    if math.isnan(one) or math.isnan(other) or math.isinf(other):
        return 0.0 if repr(one) == repr(other) else math.inf
    return abs(one - other) / max(1.0, abs(other))


def _texts_apart(ours: list[str], theirs: list[str]) -> float:
    """Return the largest difference of the numbers printed, infinity when anything else differs; times are left out."""
    if len(ours) != len(theirs):
        return math.inf
    return max((_lines_apart(one, other) for one, other in zip(ours, theirs, strict=True)), default=0.0)


def _lines_apart(one: str, other: str) -> float:
    one, other = _TIMED.sub("", one), _TIMED.sub("", other)
    if _NUMBER.sub("#", one).split() != _NUMBER.sub("#", other).split():
        return math.inf
    found, expected = _NUMBER.findall(one), _NUMBER.findall(other)
    return max((_numbers_apart(a, b) for a, b in zip(found, expected, strict=True)), default=0.0)


def _numbers_apart(one: str, other: str) -> float:
    digits = other.partition(".")[2].partition("e")[0]
    # The last digit that is printed may round the other way; a number without any is a count.
    rounding = 1.01 * 10.0 ** -len(digits) if digits and "e" not in other else 0.0
    return max(0.0, _gap(float(one), float(other)) - rounding / max(1.0, abs(float(other))))


def _first_difference(ours: Run, theirs: Run, tolerance: float) -> str:
    for what in ("losses", "weights", "printed"):
        found, expected = getattr(ours, what), getattr(theirs, what)
        if len(found) != len(expected):
            return f"{len(found)} {what}, {len(expected)} on torch"
        measure = _lines_apart if what == "printed" else _gap
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            if measure(one, other) > tolerance:
                return f"{what} {number}: {str(one)[:80]!r}, on torch {str(other)[:80]!r}"
    return "numbers differ"


def page(rows: list[Row], before: str = "") -> str:
    """Return the status page; programs that are not in ``rows`` keep the line they have in the page ``before``."""
    known = {line.split(" | ")[0].removeprefix("| "): line for line in before.splitlines() if " | " in line}
    shown = {**known, **{row.name: row.line() for row in rows}}
    lines = [
        "# Public programs, as they are, beside torch",
        "",
        "Written by `python tests-integration/public_programs --sources DIR --torch PYTHON --write`: the programs' sources are",
        "run unchanged on small synthetic data, on MindTorch without torch installed and on torch; compared are every loss that",
        "`backward` was called on, the sums of every parameter of every optimizer at the end, and every line printed but times.",
        "",
        "| program | source | commands | losses | parameters | result | largest difference |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *(shown[name] for name in PROGRAMS if name in shown)]) + "\n"
