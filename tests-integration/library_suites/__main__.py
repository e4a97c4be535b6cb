"""`python tests-integration/library_suites run|update|check|docs [NAME...] --sources DIR [--torch PYTHON]`.

The tests of libraries, on MindTorch in environments of their own without torch (made in .hatch). DIR has a checkout of each
library's repository, under its name. `run` shows what fails; `update` runs torch, too, and writes the board and
docs/status/library-suites.md; `check` ends with 1 where a test fails that the board does not name; `docs` writes the page.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import suites


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="library_suites", description=__doc__)
    parser.add_argument("command", choices=("run", "update", "check", "docs"))
    parser.add_argument("name", nargs="*", metavar="NAME", help="all without")
    parser.add_argument("--sources", type=Path, help="the checkouts")
    parser.add_argument("--torch", type=Path, help="update: a Python with torch")
    parser.add_argument(
        "--built", type=Path, help="a Python with MindTorch's native modules; without it the pure sources run"
    )
    parser.add_argument("--allow-regressions", action="store_true")
    args = parser.parse_args()
    board, status = suites.load(), 0
    if args.command == "docs":
        suites.PAGE.write_text(suites.page(board))
        return 0
    for name in args.name or suites.LIBRARIES:
        ours = suites.run(name, args.sources, None, args.built)
        failed = {test: reason for test, reason in ours.items() if reason != "pass"}
        print(f"{name}: {len(ours) - len(failed)} pass, {len(failed)} fail", flush=True)
        if args.command == "run":
            print(*(f"  {test}\n    {reason}" for test, reason in failed.items()), sep="\n")
        elif args.command == "check":
            lost = suites.lost(board, name, ours)
            print(*lost, sep="\n")
            status |= bool(lost)
        else:
            status |= _update(name, args, ours)
    return status


def _update(name: str, args: argparse.Namespace, ours: suites.Outcomes) -> int:
    """Run torch's side and write the board; 1 where a test would join the failures that the board names."""
    theirs = suites.run(name, args.sources, args.torch)
    checkout = args.sources / suites.LIBRARIES[name]["repository"].partition("/")[2]
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    revision = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    now = suites.row(name, revision, ours, theirs)
    board = suites.load()  # here, since another process may have written other libraries meanwhile
    print(f"{name}: {now['torch']} pass on torch, {len(now['fails'])} of these fail here", flush=True)
    new = sorted(set(now["fails"]) - set(board.get(name, now)["fails"]))
    if new and not args.allow_regressions:
        print("not written, these did not fail before (--allow-regressions):", *new, sep="\n  ")
        return 1
    board[name] = now
    suites.save(board)
    return 0


if __name__ == "__main__":
    sys.exit(main())
