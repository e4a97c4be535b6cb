"""How the ratio to torch's time changes with the size: `python tools/bench/curves.py [--write] [--curve NAME]`.

One thread, CPU time, the sides in turn. A point is the median of its pairs; of the largest size
a turn is one call. `--write` makes docs/status/speed-curves.md.
"""

import argparse
import sys
from pathlib import Path

from catalogue import Effort
from history import machine
from pairing import Measurement, pair_case
from report import amount
from sides import start_sides

PAGE = Path(__file__).resolve().parents[2] / "docs" / "status" / "speed-curves.md"
ELEMENTS = (16, 256, 4096, 65_536, 1_048_576, 16_777_216)
BATCHES = (1, 4, 16, 64, 256)
LENGTHS = (64, 256, 1024, 4096)
CURVES = {
    "elements": (
        ELEMENTS,
        {
            "add": "add",
            "gelu": "gelu",
            "sum": "sum",
            "cumsum": "cumsum",
            "to_bfloat16": "float32 to bfloat16",
        },
    ),
    "examples in a batch": (
        BATCHES,
        {
            "perceptron": "perceptron 256-512-512-10, forward",
            "perceptron_train": "perceptron 256-512-512-10, SGD step",
            "convolution": "convolution 3 × 3 of 32 × 28 × 28",
        },
    ),
    "length of the sequence": (
        LENGTHS,
        {
            "attention": "causal attention, 4 heads of 64",
            "encoder_train": "encoder layer of 128, forward and backward",
            "lstm": "LSTM 64 to 128, 4 sequences",
        },
    ),
}


def crossings(sizes: tuple[int, ...], ratios: list[float]) -> str:
    """Return in words where ours and torch's curves cross."""
    behind = [ratio > 1 for ratio in ratios]
    if not any(behind):
        return "ahead everywhere"
    if all(behind):
        return "behind everywhere"
    found = [
        f"{'behind' if behind[at] else 'ahead'} from {sizes[at]:,}"
        for at in range(1, len(sizes))
        if behind[at] != behind[at - 1]
    ]
    return ", ".join(found)


def row(text: str, sizes: tuple[int, ...], points: list[Measurement]) -> str:
    """Return a curve's line of the table."""
    failed = next((point.error for point in points if point.error), None)
    if failed is not None:
        return f"| {text} | not measured: {failed} |{' |' * len(sizes)}"
    cells = [f"{amount(point.ours, 's')}, **{point.ratio:.2f}**" for point in points]
    return f"| {text} | {' | '.join(cells)} | {crossings(sizes, [point.ratio for point in points])} |"


def heading(what: str, sizes: tuple[int, ...]) -> list[str]:
    """Return the first lines of a table."""
    columns = " | ".join(f"{size:,}" for size in sizes)
    return [f"## By {what}", "", f"| | {columns} | |", f"| --- |{' ---: |' * len(sizes)} --- |"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools/bench/curves.py", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--pairs", type=int, default=5, help="pairs per point")
    parser.add_argument("--curve", action="append", help="one of the curves; repeatable")
    parser.add_argument("--ours", default=sys.executable, help="interpreter with MindTorch")
    parser.add_argument("--torch", default=sys.executable, help="interpreter with torch")
    return parser


def main() -> int:
    """Run the command line."""
    arguments = _parser().parse_args()
    names = {name for _, curves in CURVES.values() for name in curves}
    wanted = set(arguments.curve or names)
    if unknown := sorted(wanted - names):
        _parser().error(f"unknown curve {', '.join(unknown)}; there are {', '.join(sorted(names))}")
    ours, torch = start_sides(arguments.ours, arguments.torch, 1)
    lines = [
        "# Speed against torch 2.13.0 by size",
        "",
        "Written by `python tools/bench/curves.py --write`; do not edit. One thread. Each cell is our time and, in bold,",
        "that time divided by torch's in the same run; the last column says where the two cross.",
        "",
        f"{machine()}.",
    ]
    for what, (sizes, curves) in CURVES.items():
        lines += ["", *heading(what, sizes)]
        for name in (name for name in curves if name in wanted):
            points = []
            for size in sizes:
                effort = Effort(curves[name], "curve_cases", seconds=0.0 if size == sizes[-1] else 0.03)
                points.append(
                    pair_case(f"{name}_{size}", ours, torch, pairs=arguments.pairs, wall=False, effort=effort)
                )
            lines.append(row(curves[name], sizes, points))
            print(lines[-1], flush=True)
    ours.close(), torch.close()
    if arguments.write:
        PAGE.write_text("\n".join(lines) + "\n")
        print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
