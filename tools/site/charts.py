"""Charts of the status pages, as SVG that stands in the page: no script, no network."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

WIDTH, LABEL, BAR, GAP = 760, 330, 14, 6
OURS, THEIRS, INK = "#3f51b5", "#bdbdbd", "currentColor"


def bars(rows: Sequence[tuple[str, float, str]], mark: float, title: str) -> str:
    """Return horizontal bars: (label, value, text), with a line at `mark`."""
    largest = max([mark, *(min(value, 2 * mark) for _, value, _ in rows)])
    scale = (WIDTH - LABEL - 90) / largest
    height = len(rows) * (BAR + GAP) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'font-family="sans-serif" font-size="11" fill="{INK}"><title>{html.escape(title)}</title>'
    ]
    for index, (label, value, text) in enumerate(rows):
        top = 20 + index * (BAR + GAP)
        length = max(1.0, min(value, largest) * scale)
        shown = label if len(label) <= 56 else label[:54] + "…"
        parts.append(f'<text x="{LABEL - 6}" y="{top + 11}" text-anchor="end">{html.escape(shown)}</text>')
        parts.append(
            f'<rect x="{LABEL}" y="{top}" width="{length:.1f}" height="{BAR}" fill="{OURS if value <= mark else "#c62828"}"/>'
        )
        parts.append(f'<text x="{LABEL + length + 5:.1f}" y="{top + 11}">{html.escape(text)}</text>')
    line = LABEL + mark * scale
    parts.append(
        f'<line x1="{line:.1f}" x2="{line:.1f}" y1="14" y2="{height - 6}" stroke="{INK}" stroke-dasharray="3 3"/>'
    )
    return "".join([*parts, "</svg>"])


def curve(values: Sequence[float], title: str, width: int = WIDTH, height: int = 220) -> str:
    """Return a curve over steps, as a loss."""
    low, high = min(values), max(values)
    span, last = (high - low) or 1.0, max(1, len(values) - 1)
    points = " ".join(
        f"{40 + index * (width - 60) / last:.1f},{20 + (high - value) * (height - 50) / span:.1f}"
        for index, value in enumerate(values)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" '
        f'font-size="11" fill="{INK}"><title>{html.escape(title)}</title>'
        f'<text x="4" y="24">{high:.3g}</text><text x="4" y="{height - 28}">{low:.3g}</text>'
        f'<text x="{width - 20}" y="{height - 8}" text-anchor="end">step {last + 1}</text>'
        f'<polyline fill="none" stroke="{OURS}" stroke-width="1.5" points="{points}"/></svg>'
    )


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of every row of the tables of a page."""
    return [
        [cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if line.startswith("| ")
    ]


def speed(text: str) -> str:
    """Return the chart of the ratios of our times to torch's."""
    found = []
    for cells in rows_of(text):
        ratio = re.fullmatch(r"\*\*([\d.]+)\*\*", cells[3]) if len(cells) > 3 else None
        if ratio:
            found.append((cells[0], float(ratio[1]), f"{ratio[1]} ({cells[1]})"))
    return bars(found, 1.0, "our time divided by torch's")


def coverage(text: str) -> str:
    """Return the chart of the shares of torch's own samples that pass."""
    found = []
    for cells in rows_of(text):
        if len(cells) == 3 and cells[1].isdigit() and cells[2].isdigit() and int(cells[2]):
            found.append((cells[0], int(cells[1]) / int(cells[2]), f"{cells[1]} of {cells[2]}"))
    return bars(found, 1.0, "share of entries that pass")


def pages(status: Path) -> dict[str, str]:
    """Return the page of figures."""
    parts = [
        "# Figures\n",
        "Drawn from the status pages when the site is built; the pages themselves are written by programs.\n",
        "## Speed\n",
        "Our time divided by torch's, one thread each, both in turn in one run: left of the dashed line we are ahead. "
        "All numbers: [speed](../status/speed.md).\n",
        speed((status / "speed.md").read_text()),
        "\n## Coverage\n",
        "Entries of torch's own database of operator samples that pass, by what is compared. "
        "All numbers: [operators](../status/ops.md).\n",
        coverage((status / "ops.md").read_text()),
    ]
    return {"figures/index.md": "\n".join(parts) + "\n"}
