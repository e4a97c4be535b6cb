"""What people read: the table on the terminal and docs/status/speed.md."""

import os
import platform
import time
from pathlib import Path

from pairing import Measurement


def amount(value: float, unit: str) -> str:
    """Return a figure in the unit that suits its size."""
    if unit == "B":
        return f"{value / 1e6:.1f} MB"
    for factor, name in ((1.0, "s"), (1e-3, "ms")):
        if value >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value / 1e-6:.3g} µs"


def table(found: list[Measurement], *, heading: bool) -> str:
    """Return lines for the terminal."""
    lines = [f"{'case':14} {'ours':>10} {'torch':>10} {'ours/torch':>11}  pairs (least to most)"] if heading else []
    for one in found:
        if one.error:
            lines.append(f"{one.name:14} {one.error}")
            continue
        spread = f"{min(one.ratios):.2f} to {max(one.ratios):.2f}, {len(one.ratios)} pairs"
        ours, torch = amount(one.ours, one.unit), amount(one.torch, one.unit)
        lines.append(f"{one.name:14} {ours:>10} {torch:>10} {one.ratio:11.2f}  {spread}")
    return "\n".join(lines)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def page(found: list[Measurement], threads: int) -> str:
    """Return docs/status/speed.md."""
    clock = "CPU time, one thread" if threads == 1 else f"wall time, {threads} threads"
    lines = [
        "# Speed against torch 2.13.0",
        "",
        f"Written by `python tools/bench --write` on {time.strftime('%Y-%m-%d')}; do not edit. Both sides ran in",
        "turn in one run, each in its own process; the ratio is the median over pairs of our time divided by torch's",
        f"({clock}), so below 1 we are ahead.",
        "",
        f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}.",
        "",
        "| case | ours | torch | ours / torch | least to most |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for one in found:
        if one.error:
            lines.append(f"| {one.text} | | | not measured: {one.error} | |")
        else:
            spread = f"{min(one.ratios):.2f} to {max(one.ratios):.2f}"
            ours, torch = amount(one.ours, one.unit), amount(one.torch, one.unit)
            lines.append(f"| {one.text} | {ours} | {torch} | **{one.ratio:.2f}** | {spread} |")
    return "\n".join(lines) + "\n"
