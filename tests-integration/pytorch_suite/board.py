"""The board: which of PyTorch's tests pass here, of those that pass on torch itself. It may only improve."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from runner import Outcomes
from sources import HERE, SAMPLES, SHARDS

STATUS = HERE.parents[1] / "docs" / "status"


class Kept(NamedTuple):
    """Where a board is, and what a rotating check takes of it."""

    file: Path
    page: Path
    title: str
    command: str
    part: int
    """Tests of one file in a rotating check."""


_UPDATE = "python tests-integration/pytorch_suite update"
ONE_PROCESS = Kept(HERE / "board.json", STATUS / "pytorch.md", "PyTorch's own tests", _UPDATE, 60)
DISTRIBUTED = Kept(
    HERE / "board_distributed.json",
    STATUS / "pytorch-distributed.md",
    "PyTorch's own tests of torch.distributed",
    f"{_UPDATE} --distributed",
    6,
)

_STAND_INS = (
    "In place of its `inductor_utils`, which imports generators of code, flags say on both sides that nothing compiles."
)

Board = dict[str, dict[str, str]]
"""File, test: `pass`, or `fail: ` and the reason. Only tests that pass on torch 2.13.0 are in it."""


def load(path: Path) -> dict:
    """Return what the file holds; an empty dict when there is none."""
    return json.loads(path.read_text()) if path.exists() else {}


def save(board: Board, path: Path) -> None:
    """Write the board to its file."""
    path.write_text(json.dumps(board, indent=0, sort_keys=True) + "\n")


def entry(outcome: dict[str, str] | None) -> str:
    """Return what the board says of an outcome."""
    if outcome is None:
        return "fail: not collected"
    if outcome["status"] == "pass":
        return "pass"
    reason = re.sub(r"0x[0-9a-f]+", "0x…", outcome["reason"])
    reason = re.sub(r"(?<![\w.])/[^\s'\",]*", "PATH", reason)
    reason = re.sub(r"\(pid\(s\) \d+\)", "(pid(s) N)", reason)
    return f"fail: {reason[:160].strip() or 'no reason recorded'}"


def lost(held: dict[str, str], found: Outcomes, ids: set[str] | None = None) -> list[str]:
    """Return the tests that the board calls passing and that pass no more; with ``ids``, of these alone."""
    return [
        f"{test}: was pass, now {entry(found.get(test))}"
        for test, status in held.items()
        if status == "pass" and (ids is None or test in ids) and entry(found.get(test)) != "pass"
    ]


def failing(held: dict[str, str]) -> set[str]:
    """Return the tests of a file that do not pass."""
    return {test for test, status in held.items() if status != "pass"}


def merge(held: dict[str, str], found: Outcomes) -> dict[str, str]:
    """Return the entries of one file after a whole run of it."""
    return {test: entry(found.get(test) or found.get("(import)")) for test in held}


def counts(board: Board) -> tuple[int, int]:
    """Return how many tests pass, and of how many."""
    entries = [status for held in board.values() for status in held.values()]
    return entries.count("pass"), len(entries)


def _drawn(name: str) -> str:
    """Return how many tests of a file were drawn, and which part of them is on the board."""
    part, _, total = SHARDS.get(name, "1/1").partition("/")
    return f"{SAMPLES[name]} tests" if total == "1" else f"part {part} of {total} of {SAMPLES[name]} tests"


def page(board: Board, kept: Kept) -> str:
    """Return the status page."""
    passed, total = counts(board)
    lines = [
        f"# {kept.title}, torch not installed",
        "",
        f"Written by `{kept.command}`. The tests are those of PyTorch 2.6.0 (Debian's source",
        "package), on the CPU, with `torch.testing._internal` of 2.13.0. Counted are tests that pass on torch 2.13.0.",
        "",
        *([_STAND_INS, ""] if kept is DISTRIBUTED else []),
        f"**{passed} of {total} pass ({passed / max(total, 1):.1%}).**",
        "",
        "| file | pass | of | |",
        "| --- | --- | --- | --- |",
    ]
    for name, held in sorted(board.items()):
        good = list(held.values()).count("pass")
        lines.append(f"| {name} | {good} | {len(held)} | {good / len(held):.1%} |")
    if kept is ONE_PROCESS:
        drawn = [f"`{name}` ({_drawn(name)})" for name in sorted(SAMPLES) if name in board]
        lines += ["", f"Of some files the table has a sample, drawn by digests: {', '.join(drawn)}."]
    reasons = Counter(re.sub(r"\d+", "N", status) for held in board.values() for status in held.values())
    del reasons["pass"]
    lines += ["", "## Why the others fail", ""]
    lines += [f"- {number} × {reason.removeprefix('fail: ')}" for reason, number in reasons.most_common()]
    if kept is ONE_PROCESS:
        lines += ["", "## Files that are not on the board", ""]
        left_out = tomllib.loads((HERE / "left_out.toml").read_text())
        lines += [f"- `{names}`: {reason}" for names, reason in sorted(left_out.items())]
    return "\n".join(lines).rstrip() + "\n"
