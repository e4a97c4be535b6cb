"""`python -m mindtorch_testing.fuzz`: random calls of every entry point, ours beside torch's.

Each side makes the calls in processes of its own; results, errors and what the arguments became are compared. A finding is
shrunk to a small call and printed. Differences with a reason stand in `accepted.toml`. The exit status is 1 where there
are findings. With `--record FILE` a run that was stopped goes on, until so many calls are on record; each run has a seed of its
own, and several may add to one file at a time. Where MindTorch's sources changed, what was found before is made again.
`--places 1/60` makes no random calls, but puts each of `places.VALUES` at each place of every sixtieth entry point.
`--sequences` makes random sequences of statements over a few tensors in place of single calls.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import random
import sys
import threading
import time
from pathlib import Path

from mindtorch_testing.fuzz.campaign import BATCH, COUNTERS, Campaign, Findings, Pair, Report, Tally
from mindtorch_testing.fuzz.catalog import Entry, catalog
from mindtorch_testing.fuzz.judge import KINDS, SEVERE
from mindtorch_testing.fuzz.places import Places
from mindtorch_testing.fuzz.progress import Progress, as_table
from mindtorch_testing.fuzz.report import write_page
from mindtorch_testing.fuzz.rows import Rows
from mindtorch_testing.fuzz.sequences import Sequences
from mindtorch_testing.record import Record

ENOUGH = 500_000
"""Calls after which a row of `accepted.toml` that accepted nothing is told."""
MALLOC = {"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"}


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="stop after this time, counted from the first call"
    )
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--lanes", type=int, default=2, help="pairs of processes; of a pair one is at work at a time")
    parser.add_argument("--record", type=Path, metavar="FILE", help="add to what this file counted")
    parser.add_argument(
        "--places",
        metavar="PART/PARTS",
        help="no random calls: hostile values at every place of each entry point of a part",
    )
    parser.add_argument("--sequences", action="store_true", help="sequences of statements in place of calls")
    parser.add_argument("--entry", action="append", help="pattern of names, repeatable")
    parser.add_argument("--kind", action="append", choices=KINDS, help=f"kinds that are findings, default {SEVERE}")
    parser.add_argument("--every-kind", action="store_true", help="all kinds are findings")
    parser.add_argument("--malloc-check", action="store_true", help="our side under MALLOC_CHECK_ and MALLOC_PERTURB_")
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        help="make each of our calls in so many threads at once; looks for ends and hangs",
    )
    parser.add_argument("--write", action="store_true", help="write docs/status/fuzz.md")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the findings as lines of JSON")
    parser.add_argument("--environment", action="append", default=[], metavar="NAME=VALUE", help="of our side")
    options = parser.parse_args()
    if options.sequences and (options.record or options.write):
        parser.error("sequences are not kept on record: leave --record and --write out")
    return options


def chosen(pair: Pair, patterns: list[str] | None, rows: Rows) -> tuple[list[Entry], int]:
    """Return the entry points that both sides have, and how many torch's only."""
    entries = [entry for entry in catalog() if not rows.skips(entry.name)]
    if patterns:
        entries = [entry for entry in entries if any(fnmatch.fnmatchcase(entry.name, p) for p in patterns)]
    present = pair.ours.present([entry.path for entry in entries])
    return [entry for entry, there in zip(entries, present, strict=True) if there], present.count(False)


def main() -> int:
    """Run the command line."""
    options = parsed()
    print(f"seed {options.seed}", flush=True)
    environment = dict(item.split("=", 1) for item in options.environment) | (MALLOC if options.malloc_check else {})
    rows = Rows.load()
    kinds = KINDS if options.every_kind else tuple(options.kind or (SEVERE if options.threads == 1 else SEVERE[:2]))
    if options.threads > 1:
        environment["MINDTORCH_FUZZ_THREADS"] = str(options.threads)
    findings = Findings(kinds, rows, lambda text: print(text, flush=True))
    pairs = [Pair(environment) for _ in range(options.lanes)]
    entries, absent = chosen(pairs[0], options.entry, rows)
    print(f"{len(entries)} entry points; ours lacks {absent}", flush=True)
    lane: type[Campaign] = Campaign
    if options.places:
        part, parts = map(int, options.places.split("/"))
        entries, lane, options.calls = entries[part - 1 :: parts], Places, 10**9
    elif options.sequences:
        lane = Sequences
    progress = Progress(Record(options.record), options.seed, findings, lambda text: print(text, flush=True))
    made_again(pairs[0], progress, findings)
    findings.know(progress.reports())
    lanes = [
        lane(pair, entries[i :: options.lanes] if options.places else entries, findings, options.seed * 1009 + i)
        for i, pair in enumerate(pairs)
    ]
    start = time.monotonic()  # what it takes to import two libraries is no time of the run
    share = -(-max(options.calls - progress.tally().calls, 0) // options.lanes)
    threads = [threading.Thread(target=lane.run, args=(share, start + options.seconds, progress.add)) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for pair in pairs:
        pair.close()
    return told(options, progress, findings, absent)


def made_again(pair: Pair, progress: Progress, findings: Findings) -> None:
    """Keep what was found of other states of the sources and is so of these."""
    reports = progress.earlier()
    for start in range(0, len(reports), BATCH):
        some = reports[start : start + BATCH]
        for report, (_, _, found) in zip(some, pair.judge([r.program for r in some]), strict=True):
            if found is not None and found.kind in findings.kinds:
                findings.keep(Report(report.entry, found, report.program, report.first))
    if reports:
        progress.add(Tally(), 0.0)
    print(f"{len(findings.reports)} of {len(reports)} earlier findings are still there", flush=True)


def told(options: argparse.Namespace, progress: Progress, findings: Findings, absent: int) -> int:
    """Say and write what was found; return the exit status."""
    total, reports = progress.tally(), progress.reports()
    print(f"{total.calls} calls of {len(total.entries)} entry points in {progress.seconds():.0f} s")
    if options.write and total.calls:
        write_page(options, progress, findings, absent)
    if options.save:
        options.save.write_text("".join(json.dumps(as_table(r)) + "\n" for r in reports))
    for name in COUNTERS:
        print(f"{name}: {dict(getattr(total, name).most_common())}")
    if total.calls >= ENOUGH and not options.entry:
        print(f"rows that no call needed: {', '.join(findings.unneeded(total.accepted)) or 'none'}")
    print(f"findings: {len(reports)}")
    if not total.calls:
        print("no call was made")
    return 1 if reports or not total.calls else 0


if __name__ == "__main__":
    sys.exit(main())
