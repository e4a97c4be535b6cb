"""`python tests-integration/public_programs [NAME...] --sources DIR [--torch PYTHON] [--write]`: public programs beside torch.

DIR has a checkout of each repository of programs.toml, under the repository's name; `--clone` makes those that are missing
with git. The programs run unchanged, in copies, on MindTorch in an environment without torch (made in .hatch), and with
--torch on that Python, too. --write makes docs/status/public-programs.md of it, where other programs' rows stay.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from board import PAGE, PROGRAMS, TABLE, page, try_program


def clone(sources: Path) -> None:
    """Make the checkouts that are not there, at the commits of the table."""
    for name, known in TABLE["repositories"].items():
        if not (sources / name).exists():
            subprocess.run(
                ["git", "clone", "--quiet", f"https://github.com/{known['at']}", str(sources / name)], check=True
            )
            subprocess.run(["git", "-C", str(sources / name), "checkout", "--quiet", known["commit"]], check=True)


def main() -> int:
    """Run the command; return 1 when a program fails or its numbers differ."""
    parser = argparse.ArgumentParser(prog="public_programs", description=__doc__)
    parser.add_argument("name", nargs="*", metavar="NAME", help="all without")
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--clone", action="store_true", help="make the checkouts that are missing")
    parser.add_argument("--torch", type=Path, help="a Python with torch")
    parser.add_argument(
        "--built", type=Path, help="a Python with MindTorch's native modules; without it the pure sources run"
    )
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.clone:
        clone(args.sources)
    rows = []
    for name in args.name or PROGRAMS:
        rows.append(try_program(name, args.sources.resolve(), args.torch, args.built))
        print(rows[-1].line(), flush=True)
        if args.write:
            PAGE.write_text(page(rows, PAGE.read_text() if PAGE.exists() else ""))
    return 0 if all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
