"""Every suite of a full checkout, in shards, on both sides: how many tests pass, and the board of it, which only improves."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runner import Outcomes, run_model
from sources import HERE, VERSION, Tree, checkout_tree, suites

BOARD = HERE.parent / "whole.json"
PAGE = HERE.parents[2] / "docs" / "status" / "transformers-whole.md"

Held = dict[str, Any]
"""Of a suite: `torch`, how many tests pass there (None where only we ran), `pass`, how many of these pass here, `fails`."""


def shard(names: list[str], part: str) -> list[str]:
    """Return the third eighth of the names for `3/8`: every eighth, from the third on."""
    found = re.fullmatch(r"(\d+)/(\d+)", part)
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= count:
        raise ValueError(f"a shard is written 3/8, from 1/8 to 8/8, not {part!r}")
    return names[number - 1 :: count]


def held(ours: Outcomes, theirs: Outcomes | None) -> Held:
    """Return what the board holds of a suite: of the tests that pass on torch, or of all that ran without torch."""
    ran = {test for test, outcome in ours.items() if outcome["status"] != "skip"}
    wanted = ran if theirs is None else {test for test, outcome in theirs.items() if outcome["status"] == "pass"}
    fails = {test: _reason(ours.get(test)) for test in sorted(wanted) if not _passes(ours.get(test))}
    return {"torch": None if theirs is None else len(wanted), "pass": len(wanted) - len(fails), "fails": fails}


def _passes(outcome: dict[str, str] | None) -> bool:
    return outcome is not None and outcome["status"] == "pass"


def _reason(outcome: dict[str, str] | None) -> str:
    if outcome is None or outcome["status"] == "skip":
        return "it does not run here"
    lines = re.sub(r" \[[^\[\]]*\]$", "", outcome["reason"].strip()).splitlines()
    return lines[0][:240] if lines else "no reason recorded"


def lost(board: dict[str, Held], suite: str, now: Held) -> list[str]:
    """Return a line for each test that fails now and is not among those that the board has."""
    known = board.get(suite, {"fails": {}})["fails"]
    return [f"{suite} {test}: {reason}" for test, reason in now["fails"].items() if test not in known]


def load() -> dict[str, Held]:
    """Return the board of this release of transformers; nothing of another one."""
    written = json.loads(BOARD.read_text()) if BOARD.exists() else {}
    return written.get("suites", {}) if written.get("version") == VERSION else {}


@contextmanager
def locked_board() -> Iterator[None]:
    """No other shard reads or writes the board meanwhile: what one of them read would undo what the other one wrote."""
    with BOARD.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def save(board: dict[str, Held]) -> None:
    """Write the board and its page."""
    written = BOARD.with_suffix(f".{os.getpid()}")
    written.write_text(json.dumps({"version": VERSION, "suites": board}, indent=1, sort_keys=True) + "\n")
    written.replace(BOARD)
    PAGE.write_text(page(board))


def run(wanted: list[str] | None, part: str, torch: Path | None, again: bool, check: bool) -> int:
    """Run the suites of a shard, those that the board has not yet or, with `again` or `check`, all; 1 where some got worse.

    The board is written after every suite, so that a run that was stopped goes on where it was.
    """
    given, board, status = Path(os.environ["TRANSFORMERS_TESTS"]), load(), 0
    chosen = shard(wanted or suites(given), part)
    left = [suite for suite in chosen if again or check or suite not in board]
    print(f"{len(chosen)} suites in the shard, {len(chosen) - len(left)} on the board already", flush=True)
    tree = checkout_tree(given, left, every=True, name=f"checkout-{os.getpid()}")
    try:
        for suite in left:
            status |= _enter(tree, suite, torch, check)
    finally:
        shutil.rmtree(tree.root, ignore_errors=True)
    return status


def _enter(tree: Tree, suite: str, torch: Path | None, check: bool) -> bool:
    """Run a suite and enter it into the board unless it got worse; return whether it did."""
    try:
        ours = run_model(tree, suite, proxy=True, arguments=[])
        theirs = run_model(tree, suite, proxy=False, arguments=[], python=torch) if torch else None
    except RuntimeError as error:  # no test ran: a suite of integration tests alone, or one that does not import
        print(f"{suite}: {error}", flush=True)
        ours, theirs = {"(the suite)": {"status": "fail", "reason": str(error).splitlines()[-1]}}, None
    now = held(ours, theirs)
    with locked_board():
        board = load()  # read here: other shards may have written theirs meanwhile
        worse = lost(board, suite, now) if suite in board or check else []
        if not check and not worse:
            board[suite] = now
            save(board)
    print(f"{suite}: {now['pass']} pass, {len(now['fails'])} fail", *worse, sep="\n  ", flush=True)
    return bool(worse)


def page(board: dict[str, Held]) -> str:
    """Return the status page."""
    passed, failed = sum(one["pass"] for one in board.values()), sum(len(one["fails"]) for one in board.values())
    lines = [
        f"# All model suites of transformers {VERSION}, torch not installed",
        "",
        "Written by `TRANSFORMERS_TESTS=DIR python tests-integration/proxy/transformers_suite whole --torch PYTHON`, which goes",
        "on where it was stopped; `--shard 3/24` runs a part. Counted are the tests that pass on torch in the same environment",
        "(where a suite has no number there, those that ran).",
        "",
        f"{passed} of {passed + failed} pass, in {len(board)} suites.",
        "",
        "| suite | on torch | pass here | fail here |",
        "| --- | --- | --- | --- |",
        *(
            f"| {suite} | {'' if one['torch'] is None else one['torch']} | {one['pass']} | {len(one['fails'])} |"
            for suite, one in sorted(board.items())
        ),
        "",
    ]
    reasons = Counter(re.sub(r"\d+", "N", reason) for one in board.values() for reason in one["fails"].values())
    return "\n".join([*lines, *(f"- {count} × {reason}" for reason, count in reasons.most_common(40))]).rstrip() + "\n"
