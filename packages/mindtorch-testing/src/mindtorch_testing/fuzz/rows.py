"""Differences that are accepted, each with its reason, from `accepted.toml`."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindtorch_testing.fuzz.judge import Finding
from mindtorch_testing.fuzz.sides import Program

FILE = Path(__file__).with_name("accepted.toml")


@dataclass(frozen=True)
class Row:
    """One accepted difference: whatever it names must fit; what it does not name fits anything."""

    name: str
    reason: str
    entries: tuple[str, ...] = ("*",)
    kinds: tuple[str, ...] = ()
    ours: str = ""
    torch: str = ""
    call: str = ""
    where: str = ""

    def fits(self, entry: str, finding: Finding, program: Program) -> bool:
        """Whether this row is about a finding."""
        return (
            (not self.kinds or finding.kind in self.kinds)
            and any(fnmatch.fnmatchcase(entry, pattern) for pattern in self.entries)
            and re.search(self.ours, finding.ours) is not None
            and re.search(self.torch, finding.theirs) is not None
            and re.search(self.where, finding.where) is not None
            and re.search(self.call, f"{program[0]}\n{program[1]}") is not None
        )


class Rows:
    """All rows, and the names that are not called at all."""

    def __init__(self, rows: list[Row], skipped: dict[str, str]) -> None:
        self.rows, self.skipped = rows, skipped

    @classmethod
    def load(cls, path: Path = FILE) -> Rows:
        """Read the rows; one without a reason is refused."""
        table = tomllib.loads(path.read_text())
        rows = [cls.row(item) for item in table.get("row", [])]
        return cls(rows, dict(table.get("skipped", {})))

    @staticmethod
    def row(item: dict[str, Any]) -> Row:
        """Make a row of a table."""
        if not item.get("reason"):
            raise ValueError(f"a row without a reason: {item}")
        lists = {key: tuple(item[key]) for key in ("entries", "kinds") if key in item}
        return Row(**{**item, **lists})

    def accepting(self, entry: str, finding: Finding, program: Program) -> str | None:
        """Return the name of the row that accepts a finding."""
        return next((row.name for row in self.rows if row.fits(entry, finding, program)), None)

    def skips(self, entry: str) -> bool:
        """Whether an entry point is not called."""
        return any(fnmatch.fnmatchcase(entry, pattern) for pattern in self.skipped)
