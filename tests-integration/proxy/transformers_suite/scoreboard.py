"""The scoreboard: which test of which model passes, and why one does not. It may only improve."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from runner import Outcomes
from sources import HERE

BOARD = HERE.parent / "scoreboard.json"
PAGE = HERE.parents[2] / "docs" / "status" / "transformers.md"

Board = dict[str, dict[str, dict[str, str]]]
"""Source, model, test: `pass`, or `fail: ` and the reason."""


def load(path: Path = BOARD) -> dict:
    """Return what the file holds; an empty dict when there is none."""
    return json.loads(path.read_text()) if path.exists() else {}


def lost(board: Board, source: str, found: dict[str, Outcomes]) -> list[str]:
    """Return a line for each test that passed and does not any more, and for each model the board does not know."""
    lines = []
    for model, outcomes in found.items():
        held = board.get(source, {}).get(model, {})
        if not held:
            lines.append(f"{source} {model}: the scoreboard holds nothing of it; `update` writes it")
        for test, status in held.items():
            now = outcomes.get(test, {"status": "absent"})["status"]
            if status == "pass" and now != "pass":
                lines.append(f"{source} {model} {test}: was pass, now {now}")
    return lines


def merge(board: Board, source: str, found: dict[str, Outcomes]) -> None:
    """Write the outcomes into the board; skipped tests are not held."""
    for model, outcomes in found.items():
        kept = board.setdefault(source, {}).setdefault(model, {})
        kept.update({test: _entry(outcome) for test, outcome in outcomes.items() if outcome["status"] != "skip"})


def save(board: Board) -> None:
    """Write the board to its file."""
    BOARD.write_text(json.dumps(board, indent=1, sort_keys=True) + "\n")


def _entry(outcome: dict[str, str]) -> str:
    if outcome["status"] == "pass":
        return "pass"
    text = re.sub(r" \[[^\[\]]*\]$", "", outcome["reason"].strip())  # where it was raised: a path of the machine
    return f"fail: {text.splitlines()[0][:240] if text else 'no reason recorded'}"


def page(board: Board) -> str:
    """Return the status page."""
    lines = [
        "# transformers' own model tests, torch not installed",
        "",
        "Written by `TRANSFORMERS_TESTS=DIR python tests-integration/proxy/transformers_suite update`, which runs them and",
        "keeps the scoreboard. `checkout`: the tests of a full checkout of transformers; `sdist`: the common tests of the",
        "release with our own small testers; `with accelerate`: in an environment with it, of what fails without. Subtests",
        "count with their test; skipped tests are not counted.",
    ]
    for source, models in board.items():
        counts = {model: Counter(entry.partition(":")[0] for entry in held.values()) for model, held in models.items()}
        passed = sum(count["pass"] for count in counts.values())
        total = sum(sum(count.values()) for count in counts.values())
        lines += [
            "",
            f"## {source}: {passed} of {total} pass",
            "",
            "| model | pass | fail |",
            "| --- | --- | --- |",
        ]
        lines += [f"| {model} | {count['pass']} | {count['fail']} |" for model, count in counts.items()]
        reasons = Counter(entry for held in models.values() for entry in held.values() if entry != "pass")
        lines += ["", *(f"- {number} × {reason}" for reason, number in reasons.most_common())]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"
