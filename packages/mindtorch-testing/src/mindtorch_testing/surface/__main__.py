"""Compare what programs see of torch's public names with what they see of ours.

    python -m mindtorch_testing.surface            tell the differences that the board does not have; exit status 1 for one
    python -m mindtorch_testing.surface --write    write the board, `board.json`, which may only lose rows
    python -m mindtorch_testing.surface --all      tell the rows of the board, too

Of functions and methods parameters are compared, of classes the ancestors, of modules `__all__` and constants, of instances
attributes, texts and what they save. `accepted.toml` says which differences are right, and why.
"""

from __future__ import annotations

import argparse
import json

from mindtorch_testing.surface import compare, instances, made
from mindtorch_testing.surface.board import BOARD, accepted, reason_of


def differences() -> tuple[int, int, compare.Differences]:
    """Return how many names and instances were compared, and the differences that are not accepted."""
    rows = accepted()
    names, found = compare.differences()
    expressions = made.expressions()
    found |= instances.differences(expressions)
    return names, len(expressions), {name: pair for name, pair in found.items() if reason_of(name, rows) is None}


def main() -> int:
    """Compare, tell what is new, and write the board where nothing is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the board")
    parser.add_argument("--all", action="store_true", help="tell the differences of the board, too")
    options = parser.parse_args()
    names, expressions, found = differences()
    board = json.loads(BOARD.read_text()) if BOARD.exists() else sorted(found)
    new = sorted({*found} - {*board})
    for name in sorted(found) if options.all else new:
        print(f"{name}\n    torch: {found[name][0]}\n    ours:  {found[name][1]}")
    if options.write and not new:
        BOARD.write_text(json.dumps(sorted(found), indent=0) + "\n")
    gone = len({*board} - {*found})
    print(f"{names} names and {expressions} instances, {len(found)} differ, {len(new)} not on the board, {gone} mended")
    return 1 if new else 0


if __name__ == "__main__":
    raise SystemExit(main())
