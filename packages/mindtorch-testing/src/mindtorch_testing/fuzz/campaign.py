"""A run of the fuzz: draws calls, has both sides make them, keeps and shrinks what differs."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from mindtorch_testing.fuzz import arguments
from mindtorch_testing.fuzz.arguments import Call
from mindtorch_testing.fuzz.catalog import Entry
from mindtorch_testing.fuzz.ends import BEFORE, as_end, told
from mindtorch_testing.fuzz.judge import Finding, compare
from mindtorch_testing.fuzz.rows import Rows
from mindtorch_testing.fuzz.shrink import shrunk
from mindtorch_testing.fuzz.sides import End, Outcome, Program, Side, SideDied

BATCH = 1000
POOL = 12
THEIR_PATIENCE, OUR_PATIENCE = 1.0, 20.0
SHRUNK_PER_ENTRY = 8
WARM = (
    "torch.empty(2, device='meta').add(1)", "torch.fft.fft(torch.ones(4))", "torch.fft.hfft(torch.ones(4))",
    "torch.linalg.qr(torch.eye(2))", "torch.linalg.svd(torch.eye(2))", "torch.special.erfc(torch.ones(2))",
    "torch.special.bessel_j0(torch.ones(2))", "torch.linalg.cholesky(torch.eye(2))", "torch.erfinv(torch.ones(2))",
    "torch.special.entr(torch.ones(2))", "torch.geqrf(torch.eye(2))", "torch.nn.Linear(2, 2)(torch.ones(2))",
    "torch.ones(2, dtype=torch.complex32) + 1", "torch.einsum('ij,jk->ik', torch.eye(2), torch.eye(2))",
    "torch.ops.aten.add.Tensor(torch.ones(2), 'a')", "torch.sparse_coo_tensor([[0]], [1.0], (2,))",
    "torch.lobpcg(torch.eye(9), 1)", "torch.svd_lowrank(torch.eye(4))",
    "torch.nn.functional.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 1, 1))",
)  # fmt: skip
"""Calls that load what is loaded late."""


COUNTERS = ("answered", "dropped", "kinds", "accepted")


@dataclass
class Report:
    """One finding as it is written down."""

    entry: str
    finding: Finding
    program: Program
    first: str = ""
    """The signature before the call was shrunk."""

    @property
    def key(self) -> tuple[str, str]:
        """What makes two findings the same."""
        return self.entry, self.finding.signature


@dataclass
class Tally:
    """What a run counted."""

    calls: int = 0
    entries: set[str] = field(default_factory=set)
    answered: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    ends: list[dict[str, Any]] = field(default_factory=list)
    """Of our processes, each told by `as_end`."""


class Pair:
    """Both sides."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = environment
        self.start()

    def start(self) -> None:
        """Start both processes."""
        self.torch = Side("torch", THEIR_PATIENCE)
        self.ours = Side("mindtorch", OUR_PATIENCE, self.environment)
        for side in (self.torch, self.ours):
            side.warm([("", call, False) for call in WARM])

    def close(self) -> None:
        """End both processes."""
        self.torch.close()
        self.ours.close()

    def judge(self, programs: list[Program]) -> list[tuple[Outcome, Outcome | None, Finding | None]]:
        """Make the calls; ours only where torch survives. None for a call that was dropped."""
        theirs = self.torch.run(programs)
        made = [i for i, outcome in enumerate(theirs) if not outcome.death and outcome.seen[0] != "setup"]
        ours = dict(zip(made, self.ours.run([programs[i] for i in made]), strict=True))
        found: list[tuple[Outcome, Outcome | None, Finding | None]] = []
        for index, outcome in enumerate(theirs):
            own = ours.get(index)
            found.append((outcome, own, compare(outcome, own) if own else None))
        return found

    def culprits(self, programs: list[Program]) -> list[Program]:
        """Return the fewest of our calls found whose last one ends the process; none where it does not end."""

        def ends(tried: list[Program]) -> bool:
            return bool(self.ours.run(tried)[-1].death)

        if not ends(programs):
            return []
        size = len(programs) // 2
        while size:
            at = 0
            while at + size < len(programs):
                rest = programs[:at] + programs[at + size :]
                if ends(rest):
                    programs = rest
                else:
                    at += size
            size //= 2
        return programs


class Findings:
    """The findings of all lanes."""

    def __init__(self, kinds: tuple[str, ...], rows: Rows, say: Callable[[str], None]) -> None:
        self.kinds, self.rows, self.say = kinds, rows, say
        self.reports: dict[tuple[str, str], Report] = {}
        self.seen: set[tuple[str, str]] = set()
        self.shrinks: Counter[str] = Counter()
        self.lock = threading.Lock()

    def know(self, reports: Iterable[Report]) -> None:
        """Follow up no more what is on record already."""
        with self.lock:
            for report in reports:
                self.seen |= {report.key, (report.entry, report.first)}

    def unneeded(self, accepted: Counter[str]) -> list[str]:
        """Return the rows that accepted nothing."""
        return [row.name for row in self.rows.rows if not accepted[row.name]]

    def take(self, entry: str, finding: Finding) -> bool:
        """Whether a finding is new and wanted, so that the caller follows it up."""
        key = (entry, finding.signature)
        with self.lock:
            if finding.kind not in self.kinds or key in self.seen or self.shrinks[entry] >= SHRUNK_PER_ENTRY:
                return False
            self.seen.add(key)
            self.shrinks[entry] += 1
        return True

    def keep(self, report: Report) -> None:
        """Keep a finding that nothing accepts."""
        with self.lock:
            if report.key in self.reports or self.rows.accepting(report.entry, report.finding, report.program):
                return
            self.reports[report.key] = report
            self.say(described(report))


class Campaign:
    """One lane: its random numbers, its pool of calls that torch answered."""

    def __init__(self, pair: Pair, entries: list[Entry], findings: Findings, seed: int) -> None:
        self.pair, self.entries, self.findings = pair, entries, findings
        self.seed, self.random = seed, Random(seed)
        self.pool: dict[str, list[Call]] = {}
        self.slow: Counter[str] = Counter()
        self.tally = Tally()

    def draw(self) -> Call:
        """Draw a call: of new arguments, or like one that torch answered."""
        entry = self.random.choice(self.entries)
        pool = self.pool.get(entry.name)
        if pool and self.random.random() < 0.55:
            return arguments.mutated(self.random, self.random.choice(pool))
        return arguments.fresh(self.random, entry)

    def draws(self, wanted: int) -> list[Call]:
        """Draw as many calls."""
        return [self.draw() for _ in range(wanted)]

    def run(
        self,
        calls: int,
        until: float = float("inf"),
        made: Callable[[Tally, float], object] = lambda tally, seconds: None,
    ) -> None:
        """Make `calls` calls, or as many as there is time for; tell `made` what each batch counted and took of a processor."""
        total = 0
        while total < calls and time.monotonic() < until:
            start, batch = self.computed(), self.draws(min(BATCH, calls - total))
            if not batch:
                return
            self.tally = Tally()
            total += len(batch)
            programs = [call.program() for call in batch]
            try:
                judged = self.pair.judge(programs)
            except SideDied as died:  # not a call's end: the machine ran out of memory, say
                self.findings.say(f"a side ended, {len(batch)} calls are dropped: {died}")
                self.tally.dropped["side ended"] += len(batch)
                self.pair.close()
                self.pair.start()
                made(self.tally, 0.0)
                continue
            self.tally.calls += len(batch)
            for index, (call, program) in enumerate(zip(batch, programs, strict=True)):
                theirs, ours, finding = judged[index]
                if self.count(call, theirs, ours) and finding is not None and ours is not None:
                    self.follow(call, program, finding, ours.end)
                    if ours.end is not None:
                        written = as_end(self.pair.ours, call.entry.name, self.seed, ours.death, ours.end)
                        self.tally.ends.append(written)
                        self.findings.say(told(written, BEFORE))
            made(self.tally, self.computed() - start)

    def computed(self) -> float:
        """Return how many seconds of a processor this lane took: both sides' batches, and this thread."""
        return self.pair.torch.computed + self.pair.ours.computed + time.thread_time()

    def count(self, call: Call, theirs: Outcome, ours: Outcome | None) -> bool:
        """Count a call and remember it where torch answered; tell whether both sides made it."""
        name, tally = call.entry.name, self.tally
        if theirs.death or ours is None:
            tally.dropped[theirs.death or "setup"] += 1
            self.slow[name] += 1
            return False
        tally.entries.add(name)
        answer = theirs.seen[0] if len(theirs.payload) < 4000 else "value"
        tally.answered[answer] += 1
        if answer == "value" and theirs.seconds < 0.5:
            pool = self.pool.setdefault(name, [])
            if len(pool) < POOL:
                pool.append(call)
            else:
                pool[self.random.randrange(POOL)] = call
        return True

    def follow(self, call: Call, program: Program, finding: Finding, end: End | None) -> None:
        """Count a finding; shrink and keep one that is new."""
        name = call.entry.name if finding.kind != "setup" else "setup"
        row = self.findings.rows.accepting(name, finding, program)
        if row is not None:
            self.tally.accepted[row] += 1
            return
        self.tally.kinds[finding.kind] += 1
        if not self.findings.take(name, finding):
            return
        confirmed = shrunk(self.pair.judge, call, finding)
        if confirmed is not None:
            self.findings.keep(Report(name, confirmed[1], confirmed[0].program(), finding.signature))
        elif end is not None:  # an end counts, whether it comes again or not
            self.findings.keep(Report(name, finding, self.ending(end), finding.signature))
        else:
            self.tally.dropped["not reproduced"] += 1

    def ending(self, end: End) -> Program:
        """Return the fewest calls found that end a process as one; the last of its calls where they do not end one again."""
        *before, last = self.pair.culprits(list(end.calls)) or end.calls[-1:]
        setup = [line for earlier in before for line in (*earlier[0].splitlines(), earlier[1])]
        return "\n".join([*setup, last[0]]), last[1], False


def described(report: Report) -> str:
    """Return the lines that tell a finding."""
    setup, call, backward = report.program
    found = report.finding
    lines = [f"{report.entry}: {found.kind} {found.where}".rstrip()]
    lines += [f"    {line}" for line in (*setup.splitlines(), call)]
    if backward and found.kind == "gradient":
        lines.append("    # then backward, with ones, from each result that has a gradient")
    return "\n".join([*lines, f"    ours:   {found.ours}", f"    torch:  {found.theirs}"])
