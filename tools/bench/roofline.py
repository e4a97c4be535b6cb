"""How near each case comes to what the machine can do: `python tools/bench/roofline.py [--write] [--case NAME]`.

The limit of an operator is the longer of two times: its products at the rate of our best matrix product, and its
bytes at the rate of an addition that touches as many. A case's limit is the sum over its operators. One thread.
`--write` makes docs/status/roofline.md.
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from catalogue import CASES, GROUPS
from history import machine
from report import amount

PAGE = Path(__file__).resolve().parents[2] / "docs" / "status" / "roofline.md"
WORKER = Path(__file__).with_name("roofline_worker.py")
# Programs of whole models take too long to be measured with all others.
LEFT_OUT = {*GROUPS["programs"], *GROUPS["memory"], "pipeline_tiny", "pipeline_tiny_eager"}
WORST = 10
MANY_CALLS = 0.5  # of the time
# Why a case is far from its limit where it isn't the calls.
REASONS = {
    "lstm": "the operator of whole layers is counted by bytes: its products are not among those that are counted",
    "gru": "the operator of whole layers is counted by bytes: its products are not among those that are counted",
    "sort": "comparisons depend on one another; the limit counts one reading and one writing",
    "unique": "sorting: comparisons depend on one another; the limit counts one reading and one writing",
    "normal": "logarithms, roots and sines of numbers that one generator makes in order",
    "uniform": "one generator makes the numbers in order, 624 words of state at a time",
    "randint": "one generator makes the numbers in order, 624 words of state at a time",
    "dropout": "one generator makes a number an element, in torch's order",
    "speech_loss": "a recursion over the steps of the sequence",
    "exp": "arithmetic: some twenty operations an element, which the limit doesn't count",
    "sin": "arithmetic: some thirty operations an element, which the limit doesn't count",
    "erf": "arithmetic: some forty operations an element, which the limit doesn't count",
    "tanh": "arithmetic: some thirty operations an element, which the limit doesn't count",
    "sigmoid": "arithmetic: some thirty operations an element, which the limit doesn't count",
    "gelu": "arithmetic: some forty operations an element, which the limit doesn't count",
    "brain_gelu": "arithmetic: some forty operations an element, which the limit doesn't count",
    "gather": "elements are read one by one, as their places say",
    "distances": "the root of a product; the operator is counted by bytes",
    "product_of_int64": "processors without AVX-512 have no product of 64-bit whole numbers",
    "resize": "each element of the result is a weighted sum of up to sixteen, counted by bytes",
    "grid_sample": "four places in memory for each element, as the grid says",
    "max_pool": "a window's elements and their places are compared one after the other",
    "adaptive_largest": "a window's elements and their places are compared one after the other",
    "remainder": "a division an element",
    "floor_divide": "a division an element",
}


@dataclass(frozen=True)
class Point:
    """A case's time, and what of it the machine needs at least, by products and by bytes; how many operators it calls."""

    name: str
    seconds: float
    products: float
    bytes: float
    calls: float
    operators: int

    @property
    def limit(self) -> float:
        """The least time, in seconds."""
        return self.products + self.bytes

    @property
    def fraction(self) -> float:
        """The limit as a part of the time."""
        return self.limit / self.seconds

    @property
    def many_calls(self) -> bool:
        """True where calling small operators is most of the time."""
        return self.calls >= MANY_CALLS * self.seconds

    def bound(self) -> str:
        """What takes most of the limit, or the calls."""
        return "calls" if self.many_calls else "products" if self.products > self.bytes else "memory"

    def reason(self) -> str:
        """Why the fraction is what it is; longer names of `REASONS` go first."""
        if self.many_calls:
            return f"{self.operators} calls of operators are {min(1.0, self.calls / self.seconds):.0%} of the time"
        known = max((key for key in REASONS if self.name.startswith(key)), key=len, default=None)
        return "not explained yet" if known is None else REASONS[known]


def point(answer: dict, peaks: dict) -> Point:
    """Place a case under the roof."""
    products = moved = 0.0
    for dtype, operations, count in answer["seen"]:
        rate = next((rate for most, rate in peaks["bytes"] if count <= most), peaks["bytes"][-1][1])
        by_products = operations / peaks["products"].get(dtype, peaks["products"]["float32"])
        if by_products > count / rate:
            products += by_products
        else:
            moved += count / rate
    operators = len(answer["seen"])
    return Point(answer["name"], answer["seconds"], products, moved, operators * peaks["call"], operators)


def measure(names: list[str], interpreter: str) -> tuple[dict, list[Point], dict[str, str]]:
    """Return the peaks, the points, and what could not be measured."""
    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    process = subprocess.Popen(
        [interpreter, str(WORKER), *(f"{name}:{CASES[name].module}" for name in names)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **limits, "HF_HUB_OFFLINE": "1"},
    )
    peaks: dict = {}
    points, failed = [], {}
    for line in process.stdout or ():
        answer = json.loads(line)
        if not peaks:
            peaks = answer
        elif "error" in answer:
            failed[answer["name"]] = answer["error"]
        else:
            points.append(point(answer, peaks))
            print(row(points[-1]), flush=True)
    if process.wait() != 0:
        raise SystemExit(f"{WORKER.name} ended with {process.returncode}")
    return peaks, points, failed


def row(found: Point) -> str:
    """Return a case's line of the table."""
    return (
        f"| {CASES[found.name].text} | {amount(found.seconds, 's')} | {amount(found.limit, 's')} | "
        f"**{found.fraction:.2f}** | {found.operators} | {found.bound()} |"
    )


def page(peaks: dict, points: list[Point], failed: dict[str, str]) -> str:
    """Return the whole page."""
    rates = ", ".join(f"{dtype} {rate / 1e9:.1f}" for dtype, rate in peaks["products"].items())
    moved = ", ".join(f"{rate / 1e9:.1f} for {size / 1e6:.3g} MB" for size, rate in peaks["bytes"])
    worst = sorted((one for one in points if not one.many_calls), key=lambda one: one.fraction)[:WORST]
    lines = [
        "# How near to the machine's limit",
        "",
        "Written by `python tools/bench/roofline.py --write`; do not edit. One thread, CPU time, best of some turns.",
        "",
        f"{machine()}. Measured peaks: products, in billions of operations a second: {rates}; additions, in billions of",
        f"bytes a second: {moved}; a call of a small operator: {amount(peaks['call'], 's')}.",
        "",
        "The limit of an operator is the longer of its products at the peak and its bytes at the rate of an addition that",
        "touches as many; other arithmetic and the work of recurrent layers are not counted, so that a fraction may be",
        "small without anything being lost. A fraction above 1 has operands that were in a nearer cache.",
        "",
        "## The ten smallest fractions",
        "",
        f"Of the cases in which calls of small operators are less than {MANY_CALLS:.0%} of the time.",
        "",
        "| case | fraction | reason |",
        "| --- | ---: | --- |",
        *(f"| {CASES[one.name].text} | {one.fraction:.2f} | {one.reason()} |" for one in worst),
        "",
        "## All cases",
        "",
        "| case | time | limit | fraction | operators | bound by |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
        *(row(one) for one in points),
    ]
    if failed:
        lines += ["", "Not measured:", "", *(f"- {CASES[name].text}: {why}" for name, why in failed.items())]
    return "\n".join(lines) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools/bench/roofline.py", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--case", action="append", help="a case or a group of cases; repeatable")
    parser.add_argument("--ours", default=sys.executable, help="interpreter with MindTorch")
    return parser


def main() -> int:
    """Run the command line."""
    arguments = _parser().parse_args()
    given = arguments.case or [name for name in CASES if name not in LEFT_OUT]
    names = [name for one in given for name in GROUPS.get(one, [one])]
    if unknown := sorted(set(names) - set(CASES)):
        _parser().error(f"unknown case {', '.join(unknown)}")
    peaks, points, failed = measure(names, arguments.ours)
    text = page(peaks, points, failed)
    if arguments.write:
        PAGE.write_text(text)
        print(PAGE)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
