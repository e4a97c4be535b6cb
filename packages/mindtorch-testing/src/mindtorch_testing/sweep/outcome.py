"""What one entry gave, field by field."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

FIELDS = ("forward", "strides", "backward", "errors", "method", "inplace", "out")
"""What is judged per entry of op_db, in the order in which it is shown."""

PASS, FAIL, MISSING = "pass", "fail", "missing"


@dataclass
class Outcome:
    """How the samples of one field went: `passed` of `total`, with the first reason when not all passed."""

    passed: int = 0
    total: int = 0
    missing: bool = False
    reason: str = ""
    where: str = ""

    def ok(self) -> None:
        """Count a sample that agreed."""
        self.passed += 1
        self.total += 1

    def bad(self, reason: str, *, missing: bool = False, where: str = "") -> None:
        """Count a sample that differed, keeping the first reason."""
        if not self.reason:
            self.reason, self.missing, self.where = reason, missing, where
        self.total += 1

    @property
    def status(self) -> str:
        """`pass`, `fail`, or `missing` when the first failure was a name or kernel that does not exist."""
        if self.passed == self.total:
            return PASS
        return MISSING if self.missing else FAIL


@dataclass
class EntryResult:
    """All outcomes of one entry; a field that torch itself cannot run, or that does not apply, is absent."""

    name: str
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    seconds: float = 0.0
    fields: tuple[str, ...] = FIELDS

    def outcome(self, name: str) -> Outcome:
        """Return the outcome of a field, made on first use."""
        return self.outcomes.setdefault(name, Outcome())

    def to_json(self) -> dict[str, Any]:
        """Return plain data for the results file."""
        fields = {}
        for name in self.fields:
            outcome = self.outcomes.get(name)
            if outcome is None or outcome.total == 0:
                continue
            fields[name] = {"status": outcome.status, "passed": outcome.passed, "total": outcome.total}
            if outcome.reason:
                fields[name] |= {"reason": outcome.reason, "where": outcome.where}
        return {"name": self.name, "seconds": round(self.seconds, 2), "fields": fields}


_NUMBER = re.compile(r"-?\d+\.\d+(e[+-]?\d+)?|-?\b\d+\b|\bnan\b|\binf\b")
_LIST = re.compile(r"[\[(](N|None|, |,|\[|\]|\(|\))*[\])]")


def reason_key(reason: str) -> str:
    """Fold numbers and shapes of a failure reason, so that equal causes in different ops count together."""
    folded = _NUMBER.sub("N", reason.splitlines()[0] if reason else "")
    return _LIST.sub("(…)", folded)[:240]
