"""What the lanes of a run, and runs before it, counted."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from mindtorch_testing.fuzz.campaign import COUNTERS, Findings, Report, Tally
from mindtorch_testing.fuzz.judge import Finding
from mindtorch_testing.record import Record, merged


def as_table(report: Report) -> dict[str, Any]:
    """Return a finding as plain data."""
    setup, call, backward = report.program
    found = report.finding
    return {
        "entry": report.entry, "kind": found.kind, "where": found.where, "setup": setup, "call": call,
        "backward": backward, "ours": found.ours, "torch": found.theirs, "signature": found.signature, "first": report.first,
    }  # fmt: skip


def as_report(table: dict[str, Any]) -> Report:
    """Return what `as_table` was made from."""
    finding = Finding(table["kind"], table["ours"], table["torch"], table["where"])
    return Report(table["entry"], finding, (table["setup"], table["call"], table["backward"]), table.get("first", ""))


class Progress:
    """Counts batch by batch, into a record that outlives the process, and says how far it is."""

    def __init__(self, record: Record, seed: int, findings: Findings, say: Callable[[str], None]) -> None:
        self.record, self.seed, self.findings, self.say = record, seed, findings, say
        self.lock = threading.Lock()
        self.sent: set[tuple[str, str]] = set()
        self.start, self.made = time.monotonic(), 0

    def add(self, tally: Tally, seconds: float) -> None:
        """Add what a lane counted in so many seconds of a processor."""
        with self.lock:
            fresh = [report for key, report in self.findings.reports.items() if key not in self.sent]
            self.sent |= {report.key for report in fresh}
            counted = {
                "calls": tally.calls, "seconds": seconds, "seeds": [self.seed], "entries": sorted(tally.entries),
                "findings": [as_table(report) for report in fresh], "ends": tally.ends,
                **{name: dict(getattr(tally, name)) for name in COUNTERS},
            }  # fmt: skip
            calls = self.record.add(counted)["calls"]
            self.made += tally.calls
            rate = self.made / (time.monotonic() - self.start)
            self.say(f"{calls:,} calls, {rate:.0f} a second, {len(self.reports())} findings")

    def everything(self) -> dict[str, Any]:
        """Return what was counted of all states of the sources."""
        total: dict[str, Any] = merged(self.record.earlier(), {**self.record.read(), "states": 1})
        return total

    def tally(self) -> Tally:
        """Return the sum of all runs, those over other states of the sources too."""
        return self.sum_of(self.everything())

    def today(self) -> Tally:
        """Return the sum of all runs over these sources."""
        return self.sum_of(self.record.read())

    @staticmethod
    def sum_of(found: dict[str, Any]) -> Tally:
        """Return counts as a tally."""
        counters = {name: Counter(found.get(name, {})) for name in COUNTERS}
        return Tally(found.get("calls", 0), set(found.get("entries", ())), **counters, ends=list(found.get("ends", ())))

    def states(self) -> int:
        """Return how many states of the sources were called."""
        return int(self.everything()["states"])

    def seconds(self) -> float:
        """Return the time of a processor that all runs took."""
        return float(self.everything().get("seconds", 0.0))

    def seeds(self) -> list[int]:
        """Return the seeds of all runs."""
        return list(self.everything().get("seeds", ()))

    def earlier(self) -> list[Report]:
        """Return what was found of other states of the sources, and of these sources is not known yet."""
        known = self.record.read().get("findings", ())
        seen = {(table["setup"], table["call"]) for table in known}
        tables = self.record.earlier().get("findings", ())
        return [as_report(table) for table in tables if (table["setup"], table["call"]) not in seen]

    def reports(self) -> list[Report]:
        """Return the findings of all runs over these sources that nothing accepts."""
        known = {report.key: report for report in map(as_report, self.record.read().get("findings", ()))}
        accepting = self.findings.rows.accepting
        return [r for r in known.values() if accepting(r.entry, r.finding, r.program) is None]
