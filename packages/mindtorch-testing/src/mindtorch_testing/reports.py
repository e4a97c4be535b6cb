"""What runs that look for findings have in common: their command line, their page and their exit status."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path


def parser(description: str | None, *, counted: str, count: int) -> argparse.ArgumentParser:
    """Return a command line with how many there shall be of what is `counted`, the seed and the page's file."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument(f"--{counted}", type=int, default=count)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--write", type=Path, help="write the page to this file")
    return made


def page(
    title: str, text: str, header: Sequence[str], rows: Iterable[Sequence[object]], findings: Sequence[str]
) -> str:
    """Return a page for `docs/status`: a text, a table whose last column has numbers, and the findings."""
    lines = [f"# {title}", "", text, "", _row(header), "|" + "---|" * (len(header) - 1) + "---:|", *map(_row, rows), ""]
    return "\n".join([*lines, f"Findings: {len(findings)}", *[f"- {finding}" for finding in findings], ""])


def conclude(summary: object, findings: Sequence[str], page: str, write: Path | None) -> int:
    """Print a summary, write the page where that is asked for, and return the exit status: 1 with findings."""
    print(json.dumps(summary, indent=1))
    if write:
        write.write_text(page)
    return 1 if findings else 0


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
