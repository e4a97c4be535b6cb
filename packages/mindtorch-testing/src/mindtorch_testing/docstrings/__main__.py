"""Run the examples of torch's docstrings on both libraries and compare what every statement shows.

    python -m mindtorch_testing.docstrings [--only PATTERN] [--part N/M] [--write PAGE]

Statements up to the first that differs are compared: printed text and values, numbers within 1e-3, errors with type and
text, warnings with category and text. `accepted.toml` says which docstrings may differ, and why. Exit status 1 when
another one differs.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from mindtorch_testing.docstrings import collect, side

ACCEPTED = Path(__file__).with_name("accepted.toml")
_NUMBER = re.compile(r"-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|inf|nan)")
_COMPILER = "torch.jit.script` is deprecated"
"""A warning of functions that torch itself compiles by `torch.jit` when they are first used, which ours never are."""


def agree(theirs: list[Any], ours: list[Any]) -> bool:
    """Whether two statements showed the same, numbers up to rounding."""
    told = [one for one in theirs[2] if _COMPILER not in one]
    if theirs[0] != ours[0] or told != ours[2]:
        return False
    texts = [re.sub(r"\s+", "", _NUMBER.sub("#", one[1])) for one in (theirs, ours)]
    if texts[0] != texts[1]:
        return False
    numbers = [[float(one) for one in _NUMBER.findall(answer[1])] for answer in (theirs, ours)]
    return all(
        str(first) == str(second) or abs(first - second) <= min(2e-4 + 1e-3 * abs(first), 1e30)
        for first, second in zip(*numbers, strict=True)
    )


def difference(statements: list[str], theirs: list[Any], ours: list[Any]) -> dict[str, str] | None:
    """Return the first statement that differs, None where none does; what ends torch's own process is not compared."""
    for place, statement in enumerate(statements):
        first, second = theirs[min(place, len(theirs) - 1)], ours[min(place, len(ours) - 1)]
        if first[0] == "died":
            return None
        if not agree(first, second):
            return {"statement": statement.strip(), "torch": str(first)[:400], "ours": str(second)[:400]}
    return None


def accepted() -> dict[str, str]:
    """Return reasons by pattern of names."""
    rows = tomllib.loads(ACCEPTED.read_text())["row"]
    return {pattern: row["reason"] for row in rows for pattern in row["names"]}


def reason_of(name: str, rows: dict[str, str]) -> str | None:
    """Return why the docstring `name` may differ."""
    return next((reason for pattern, reason in rows.items() if fnmatch.fnmatchcase(name, pattern)), None)


def compare(only: str = "*", part: str = "1/1") -> tuple[int, int, dict[str, dict[str, str]]]:
    """Return how many docstrings and statements were run, and the differences by name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _child("collect", folder / "examples.json")
        every: dict[str, list[str]] = json.loads((folder / "examples.json").read_text())
        number, count = (int(one) for one in part.split("/"))
        names = sorted(one for one in every if fnmatch.fnmatchcase(one, only))[number - 1 :: count]
        examples = {one: every[one] for one in names}
        (folder / "examples.json").write_text(json.dumps(examples))
        answers = {}
        for library in ("torch", "mindtorch"):
            _child(library, folder / "examples.json", folder / f"{library}.json")
            answers[library] = json.loads((folder / f"{library}.json").read_text())
    found = {}
    for one, statements in examples.items():
        differs = difference(statements, answers["torch"][one], answers["mindtorch"][one])
        if differs is not None:
            found[one] = differs
    return len(examples), sum(map(len, examples.values())), found


def _child(task: str, *files: Path) -> None:
    command = [sys.executable, "-m", "mindtorch_testing.docstrings", "--child", task, *map(str, files)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def child(task: str, files: list[str]) -> None:
    """What a child process does: find the examples, or run them on one library."""
    if task == "collect":
        Path(files[0]).write_text(json.dumps(collect.examples()))
    else:
        examples = json.loads(Path(files[0]).read_text())
        Path(files[1]).write_text(json.dumps(side.run(task, examples)))


def page(docstrings: int, statements: int, found: dict[str, dict[str, str]], rows: dict[str, str]) -> str:
    """Return the Markdown of a run."""
    reasons: dict[str, list[str]] = {}
    for name in found:
        reasons.setdefault(reason_of(name, rows) or "not accepted", []).append(name)
    lines = [
        "# Examples of torch's docstrings",
        "",
        f"Written by `python -m mindtorch_testing.docstrings --write docs/status/docstrings.md`: {statements} statements of "
        f"{docstrings} docstrings, read from the installed torch and run on both libraries. Printed text, values, errors "
        f"and warnings are compared. {docstrings - len(found)} docstrings show the same ({1 - len(found) / docstrings:.1%}).",
        "",
        "| why the others differ | docstrings |",
        "| --- | ---: |",
        *(f"| {reason} | {len(names)} |" for reason, names in sorted(reasons.items(), key=lambda one: -len(one[1]))),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Compare, tell the differences that are not accepted, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="docstrings whose name fits this pattern")
    parser.add_argument("--part", default="1/1", help="every M-th docstring, beginning with the N-th")
    parser.add_argument("--write", type=Path, help="write the page to this file")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], options.child[1:])
        return 0
    rows = accepted()
    docstrings, statements, found = compare(options.only, options.part)
    wrong = {name: one for name, one in found.items() if reason_of(name, rows) is None}
    for name, one in wrong.items():
        print(f"{name}: {one['statement']}\n    torch: {one['torch']}\n    ours:  {one['ours']}")
    print(f"{docstrings} docstrings, {statements} statements, {len(found)} differ, {len(wrong)} of them not accepted")
    if options.write:
        options.write.write_text(page(docstrings, statements, found, rows))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
