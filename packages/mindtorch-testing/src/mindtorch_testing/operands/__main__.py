"""`python -m mindtorch_testing.operands`: native kernels with random operands, beside numpy's in a second process.

Every row with a native kernel is called through the public functions with random dtypes, sizes, strides and memory that
overlaps or is not aligned: twice as it is, with `out=` and in place, arguments and results sharing memory at times. Results,
errors and the memory around the operands must be those of `MINDTORCH_NATIVE=0`. Call INDEX of seed SEED is always the same:
`--only INDEX` runs that one alone. The exit status is 1 where something differs.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from mindtorch_testing.operands.calls import ROWS, difference, outcomes

PRELOADS = ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS", "PYTHONMALLOC")
STRIDE = 1_000_003


def cases(seed: int, calls: range, rows: list[str]) -> Iterator[tuple[int, str, list[Any]]]:
    """Run the calls and give the number, the row and the outcomes of each."""
    for index in calls:
        row = rows[index % len(rows)]
        yield index, row, list(outcomes(row, seed * STRIDE + index))


def compare(seed: int, calls: range, rows: list[str]) -> Iterator[str]:
    """Run the calls in this process and in one without native code; give what differs."""
    settings = pickle.dumps((seed, calls, rows))
    environment = {name: value for name, value in os.environ.items() if name not in PRELOADS} | {
        "MINDTORCH_NATIVE": "0"
    }
    child = subprocess.Popen(
        [sys.executable, "-m", "mindtorch_testing.operands", "--serve"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
    )  # fmt: skip
    if child.stdin is None or child.stdout is None:
        raise RuntimeError("a process without pipes")
    child.stdin.write(settings)
    child.stdin.close()
    try:
        for index, row, ours in cases(seed, calls, rows):
            for (way, mine), (other, theirs) in zip(ours, pickle.load(child.stdout), strict=False):
                reason = difference(mine, theirs) if way == other else f"there {other}"
                if reason:
                    yield f"finding {seed}:{index} {row} {way}: {reason}"
                    break
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def serve() -> None:
    """Run the calls that stdin names; write the outcomes of each to what stdout was."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    seed, calls, rows = pickle.load(sys.stdin.buffer)
    for _, _, found in cases(seed, calls, rows):
        pickle.dump(found, results)
        results.flush()


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=len(ROWS) * 10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--row", action="append", help="only this row, repeatable")
    parser.add_argument("--only", type=int, help="only this call")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    calls = range(options.calls) if options.only is None else range(options.only, options.only + 1)
    found = 0
    for line in compare(options.seed, calls, options.row or ROWS):
        found += 1
        print(line, flush=True)
    print(f"{len(calls)} calls of {len(options.row or ROWS)} rows, findings: {found}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
