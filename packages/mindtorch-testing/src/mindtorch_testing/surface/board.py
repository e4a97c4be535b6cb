"""The differences that are known, and those that are right."""

from __future__ import annotations

import fnmatch
import tomllib
from pathlib import Path

BOARD = Path(__file__).with_name("board.json")
_ACCEPTED = Path(__file__).with_name("accepted.toml")


def accepted() -> dict[str, str]:
    """Return reasons by pattern of `name: aspect`."""
    rows = tomllib.loads(_ACCEPTED.read_text())["row"]
    return {pattern: row["reason"] for row in rows for pattern in row["names"]}


def reason_of(name: str, rows: dict[str, str]) -> str | None:
    """Return why a difference is right, None where it is not."""
    return next((reason for pattern, reason in rows.items() if fnmatch.fnmatchcase(name, pattern)), None)
