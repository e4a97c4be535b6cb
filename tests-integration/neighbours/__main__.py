"""`python tests-integration/neighbours [NAME...] [--torch PYTHON] [--write]`: programs of libraries beside torch.

Each runs on MindTorch in an environment of its own (made in .hatch/neighbours) without torch. With --torch, a Python that
has torch runs it too, with the environment's libraries, and the numbers are compared. --write makes
docs/status/neighbours.md of it, where the rows of neighbours that were not run stay. `--environments DIR` uses
environments that are there already.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from matrix import NEIGHBOURS, PAGE, page, try_neighbour


def main() -> int:
    """Run the command; return 1 when a program fails or its numbers differ."""
    parser = argparse.ArgumentParser(prog="neighbours", description=__doc__)
    parser.add_argument("name", nargs="*", metavar="NAME", help="all without")
    parser.add_argument("--torch", type=Path, help="a Python with torch")
    parser.add_argument("--environments", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rows = []
    for name in args.name or NEIGHBOURS:
        rows.append(try_neighbour(name, args.torch, args.environments))
        print(rows[-1].line(), flush=True)
    if args.write:
        PAGE.write_text(page(rows, PAGE.read_text()))
    return 0 if all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
