"""The committed scoreboard: the status of every field of every entry, one line per entry, and its ratchet."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from mindtorch_testing.sweep.outcome import PASS

BOARDS = Path(__file__).resolve().parents[1] / "scoreboard"
"""Where the scoreboards are committed."""

BOARD = BOARDS / "ops.json"
"""The scoreboard of the ops."""

Entries = dict[str, dict[str, str]]


def repository_root() -> Path:
    """Return the checkout this package runs from, the working directory when it runs from a wheel."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "packages").is_dir() and (folder / "pyproject.toml").is_file():
            return folder
    return Path.cwd()


def results_path(suite: str = "ops") -> Path:
    """Return the file that keeps the reasons of a suite's last runs; it is not committed."""
    given = os.environ.get("MINDTORCH_SWEEP_RESULTS")
    path = Path(given) if given else repository_root() / ".hatch" / "sweep" / "results.json"
    return path if suite == "ops" else path.with_name(f"{path.stem}-{suite}{path.suffix}")


def load_board(path: Path = BOARD) -> dict[str, Any]:
    """Read the scoreboard; an absent one is empty."""
    if not path.exists():
        return {"lowered": [], "entries": {}}
    return json.loads(path.read_text())


def save_board(board: dict[str, Any], path: Path = BOARD) -> None:
    """Write the scoreboard, one line per entry, sorted, so that a diff shows what changed."""
    lines = [f"    {json.dumps(name)}: {json.dumps(board['entries'][name])}" for name in sorted(board["entries"])]
    lowered = [f"    {json.dumps(item)}" for item in board["lowered"]]
    parts = [
        "{",
        '  "lowered": [' + ("\n" + ",\n".join(lowered) + "\n  " if lowered else "") + "],",
        '  "entries": {',
        ",\n".join(lines),
        "  }",
        "}",
    ]
    write_atomically(path, "\n".join(parts) + "\n")


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's content in one step; readers see the old or the new text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.write_text(text)
    fresh.replace(path)


def statuses(results: dict[str, dict[str, Any]]) -> Entries:
    """Reduce a run's results to the statuses that the scoreboard keeps."""
    return {
        name: {field: outcome["status"] for field, outcome in found["fields"].items()}
        for name, found in results.items()
        if found["fields"]
    }


def regressions(old: Entries, new: Entries, fewer_samples: bool = False) -> list[str]:
    """List "entry field: was pass, now …" for everything in `new` that used to pass and does not.

    A run of fewer samples than the scoreboard was made from may have none for a field; that loses nothing.
    """
    lost = []
    for name, fields in sorted(new.items()):
        for field, was in old.get(name, {}).items():
            now = fields.get(field, "absent")
            if fewer_samples and field not in fields:
                continue
            if was == PASS and now != PASS:
                lost.append(f"{name} {field}: was pass, now {now}")
    return lost


def totals(entries: Entries, fields: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Return per field how many entries pass and how many have it."""
    counts = {}
    for field in fields:
        seen = [entry[field] for entry in entries.values() if field in entry]
        counts[field] = (sum(status == PASS for status in seen), len(seen))
    return counts


def save_results(results: dict[str, dict[str, Any]], suite: str = "ops") -> None:
    """Merge a run's results, with reasons, into the suite's results file."""
    path = results_path(suite)
    known = load_results(suite)
    known.update(results)
    write_atomically(path, json.dumps(known, indent=0, sort_keys=True) + "\n")


def load_results(suite: str = "ops") -> dict[str, dict[str, Any]]:
    """Read the results of earlier runs; empty when there are none."""
    path = results_path(suite)
    return json.loads(path.read_text()) if path.exists() else {}
