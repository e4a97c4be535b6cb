"""`python -m mindtorch_testing.fuzz`: random calls of every entry point, ours beside torch's.

Each side makes the calls in processes of its own; results, errors and what the arguments became are compared. A finding is
shrunk to a small call and printed. Differences with a reason stand in `accepted.toml`. The exit status is 1 where there
are findings.
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

from mindtorch_testing.fuzz.campaign import Campaign, Findings, Pair, Tally
from mindtorch_testing.fuzz.catalog import Entry, catalog
from mindtorch_testing.fuzz.judge import KINDS, SEVERE
from mindtorch_testing.fuzz.report import as_table, write_page
from mindtorch_testing.fuzz.rows import Rows

ENOUGH = 500_000
"""Calls after which a row of `accepted.toml` that accepted nothing is told."""
MALLOC = {"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"}


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--lanes", type=int, default=2, help="pairs of processes at work at the same time")
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
    return parser.parse_args()


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
    start = time.monotonic()
    pairs = [Pair(environment) for _ in range(options.lanes)]
    entries, absent = chosen(pairs[0], options.entry, rows)
    print(f"{len(entries)} entry points; ours lacks {absent}", flush=True)
    lanes = [Campaign(pair, entries, findings, options.seed * 1009 + i) for i, pair in enumerate(pairs)]
    share = -(-options.calls // options.lanes)
    threads = [threading.Thread(target=lane.run, args=(share, start + options.seconds)) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for pair in pairs:
        pair.close()
    total = Tally()
    for lane in lanes:
        total.add(lane.tally)
    print(f"{total.calls} calls of {len(total.entries)} entry points in {time.monotonic() - start:.0f} s")
    seconds = time.monotonic() - start
    if options.write:
        write_page(options, total, findings, absent, seconds)
    if options.save:
        options.save.write_text("".join(json.dumps(as_table(r)) + "\n" for r in findings.reports.values()))
    for name in ("answered", "dropped", "kinds", "accepted"):
        print(f"{name}: {dict(getattr(total, name).most_common())}")
    if total.calls >= ENOUGH and not options.entry:
        print(f"rows that no call needed: {', '.join(findings.unneeded(total.accepted)) or 'none'}")
    print(f"findings: {len(findings.reports)}")
    return 1 if findings.reports else 0


if __name__ == "__main__":
    sys.exit(main())
