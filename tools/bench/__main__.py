"""`python tools/bench`: how long we take, divided by how long torch takes.

Each side runs in a long-lived process of its own and the two take turns within one run, so that whatever else the
machine does hits both. A case's figure is the median over pairs of (our time / torch's time); below 1 we are ahead.
Times are CPU time with one thread unless `--threads` asks for more, then wall time.
"""

import argparse
import json
import sys
from pathlib import Path

from catalogue import CASES
from checkpoints import CASE, PAIRS, measure_checkpoints
from fresh import FRESH, measure_fresh
from pairing import Measurement, pair_case
from report import page, table
from sides import Side, start_sides

PAGE = Path(__file__).resolve().parents[2] / "docs" / "status" / "speed.md"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="tools/bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--case", action="append", help=f"one of: {', '.join([*CASES, *FRESH, *CASE])}; repeatable")
    parser.add_argument("--pairs", type=int, help="pairs per case (default: by case)")
    parser.add_argument("--threads", type=int, default=1, help="threads per side; above 1 wall time is compared")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--write", action="store_true", help="write docs/status/speed.md (all cases)")
    parser.add_argument("--ours", default=sys.executable, help="interpreter with MindTorch")
    parser.add_argument("--torch", default=sys.executable, help="interpreter with torch")
    arguments = parser.parse_args()

    chosen = arguments.case or [*CASES, *FRESH, *CASE]
    unknown = sorted(set(chosen) - {*CASES, *FRESH, *CASE})
    if unknown:
        parser.error(f"unknown case {', '.join(unknown)}")
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
    if arguments.json:
        arguments.json.write_text(json.dumps([measurement.to_json() for measurement in found], indent=1) + "\n")
    if arguments.write:
        PAGE.write_text(page(found, arguments.threads))
        print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
