"""`python tools/bench`: how long we take, divided by how long torch takes.

Each side runs in a long-lived process of its own and the two take turns within one run, so that whatever else the
machine does hits both. With one thread a case's figure is the median over pairs of (our CPU time / torch's); with
`--threads N` it is our best wall time divided by torch's best. Below 1 we are ahead.
"""

import argparse
import json
import sys
from pathlib import Path

from catalogue import CASES, GROUPS
from checkpoints import CASE, PAIRS, measure_checkpoints
from fresh import FRESH, measure_fresh
from history import FILE, record, trend
from pairing import Measurement, pair_case
from report import page, table
from sides import Side, start_sides

PAGE = Path(__file__).resolve().parents[2] / "docs" / "status" / "speed.md"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tools/bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    names = ", ".join([*GROUPS, *CASES, *FRESH, *CASE])
    parser.add_argument("--case", action="append", help=f"one of: {names}; repeatable")
    parser.add_argument("--pairs", type=int, help="pairs per case (default: by case)")
    parser.add_argument("--threads", type=int, default=1, help="threads per side; above 1 wall time is compared")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--record", action="store_true", help="append the figures to the history")
    parser.add_argument(
        "--write", action="store_true", help="--record, then write docs/status/speed.md from the history"
    )
    parser.add_argument("--history", action="store_true", help="measure nothing, print the trend of the recorded runs")
    parser.add_argument("--file", type=Path, default=FILE, help="the history (default: tools/bench/history.jsonl)")
    parser.add_argument("--ours", default=sys.executable, help="interpreter with MindTorch")
    parser.add_argument("--torch", default=sys.executable, help="interpreter with torch")
    return parser


def _chosen(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> list[str]:
    """Return the names of the cases; all by default, with more than one thread only what threads can change."""
    if not arguments.case:
        return [*CASES] if arguments.threads > 1 else [*CASES, *FRESH, *CASE]
    names = [name for given in arguments.case for name in GROUPS.get(given, [given])]
    unknown = sorted(set(names) - {*CASES, *FRESH, *CASE})
    if unknown:
        parser.error(f"unknown case {', '.join(unknown)}")
    return names


def _measure(chosen: list[str], arguments: argparse.Namespace) -> list[Measurement]:
    """Time the cases, printing each when it is there."""
    found: list[Measurement] = []
    sides: tuple[Side, Side] | None = None
    again: Side | None = None
    for name in chosen:
        before = len(found)
        if name in CASE:
            found += measure_checkpoints(arguments.ours, arguments.torch, arguments.pairs or PAIRS)
        elif name in FRESH:
            found += measure_fresh(name, arguments.ours, arguments.torch, arguments.pairs)
        else:
            sides = sides or start_sides(arguments.ours, arguments.torch, arguments.threads)
            ours, other = sides
            if CASES[name].against:
                again = again or Side("ours again", arguments.ours, arguments.threads)
                other = again
            found.append(pair_case(name, ours, other, pairs=arguments.pairs, wall=arguments.threads > 1))
        print(table(found[before:], heading=before == 0), flush=True)
    for side in (*(sides or ()), *((again,) if again else ())):
        side.close()
    return found


def main() -> int:
    """Run the command line."""
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.history:
        print(trend(arguments.threads, arguments.file))
        return 0
    found = _measure(_chosen(parser, arguments), arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps([measurement.to_json() for measurement in found], indent=1) + "\n")
    if arguments.record or arguments.write:
        record(found, arguments.threads, arguments.file)
    if arguments.write:
        PAGE.write_text(page(arguments.file))
        print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
