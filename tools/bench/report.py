"""What people read: the table on the terminal and docs/status/speed.md."""

from pathlib import Path

from catalogue import CASES
from history import latest, machine
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
    lines = [f"{'case':22} {'ours':>10} {'torch':>10} {'ours/torch':>11}  pairs (least to most)"] if heading else []
    for one in found:
        if one.error:
            lines.append(f"{one.name:22} {one.error}")
            continue
        spread = f"{min(one.ratios):.2f} to {max(one.ratios):.2f}, {len(one.ratios)} pairs"
        ours, torch = amount(one.ours, one.unit), amount(one.torch, one.unit)
        lines.append(f"{one.name:22} {ours:>10} {torch:>10} {one.ratio:11.2f}  {spread}")
    return "\n".join(lines)


def _cells(figures: dict | None) -> str:
    if figures is None:
        return " | | "
    if "error" in figures:
        return f"not measured: {figures['error']} | | "
    ours, torch = (amount(figures[side], figures["unit"]) for side in ("ours", "torch"))
    return f"{ours} | {torch} | **{figures['ratio']:.2f}**"


def page(history: Path) -> str:
    """Return docs/status/speed.md: the newest figures of every case, of one thread and of two."""
    one, two = latest(1, history), latest(2, history)
    dates = sorted(figures["date"] for figures in (*one.values(), *two.values()))
    lines = [
        "# Speed against torch 2.13.0",
        "",
        f"Written by `python tools/bench --write` from `tools/bench/history.jsonl`, runs of {dates[0]} to {dates[-1]}; do",
        "not edit. Both sides ran in turn in one run, each in its own process. A ratio is our time divided by torch's, so",
        "below 1 we are ahead: with one thread the median over pairs of CPU times, with two the best wall time of each.",
        "",
        f"{machine()}.",
        "",
        "| case | ours, 1 thread | torch | ratio | goal | ours, 2 threads | torch | ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in dict.fromkeys([*CASES, *one, *two]):
        if name not in one and name not in two:
            continue
        effort = CASES.get(name)
        text = effort.text if effort else {**two.get(name, {}), **one.get(name, {})}.get("text", name)
        goal = f"{effort.goal:.2f}" if effort and effort.goal is not None else ""
        lines.append(f"| {text} | {_cells(one.get(name))} | {goal} | {_cells(two.get(name))} |")
    return "\n".join(lines) + "\n"
