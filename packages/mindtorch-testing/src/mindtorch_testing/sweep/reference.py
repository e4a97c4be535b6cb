"""Run op_db's reference inputs on torch and on MindTorch, in every dtype that torch has on the CPU.

    python -m mindtorch_testing.sweep.reference [--only PATTERN] [--part N/M] [--samples N] [--write PAGE]

Reference inputs are torch's larger and stranger samples: broadcasts, extremal values, strides of every kind. Of each
operator and dtype up to `--samples` run, spread evenly over the first 600. Values, dtypes, shapes and strides are compared;
what torch refuses is left out. With `--write` the page says how many agree and what differs.
"""

from __future__ import annotations

import argparse
import fnmatch
import itertools
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

from mindtorch_testing.convert import Converter
from mindtorch_testing.sweep.board import write_atomically
from mindtorch_testing.sweep.entry import EntryRunner
from mindtorch_testing.sweep.overrides import GAUGE_FREE
from mindtorch_testing.sweep.runner import Limits, ask_oracle, seed_generators, spread
from mindtorch_testing.sweep.suites import OPS

POOL = 600
"""How many reference inputs of an operator and dtype are made; those that run are spread evenly over these."""

_SECONDS = 20
"""After which a sample, or the making of samples, is given up on either side."""


class Slow(Exception):
    """A call took longer than it may."""


def _ring(signal_number: int, frame: object) -> NoReturn:
    raise Slow


def _timed(call: Callable[[], Any]) -> Any:
    signal.alarm(_SECONDS)
    try:
        return call()
    finally:
        signal.alarm(0)


@dataclass
class Counts:
    """What ran, and what differed of it: (operator, dtype, reason)."""

    ran: Counter[str] = field(default_factory=Counter)
    different: list[tuple[str, str, str]] = field(default_factory=list)


class ReferenceRunner:
    """Runs the reference inputs of operators."""

    def __init__(self, samples: int) -> None:
        runner = OPS.make_runner("mindtorch", Limits())
        assert isinstance(runner, EntryRunner)
        self.runner = runner
        self.samples = samples

    def run(self, info: OpInfo, counts: Counts) -> None:
        """Run an operator in all of its dtypes."""
        for dtype in sorted(info.dtypes, key=str):
            for sample in self._samples(info, dtype):
                given = self._asked(info, sample)
                if not given:
                    continue
                counts.ran[str(dtype)] += 1
                reason = self._difference(info, sample, given[0])
                if reason:
                    counts.different.append((info.full_name, str(dtype), reason))

    def _samples(self, info: OpInfo, dtype: torch.dtype) -> list[SampleInput]:
        seed_generators()
        try:
            pools = _timed(
                lambda: ask_oracle(
                    lambda: list(itertools.islice(info.reference_inputs("cpu", dtype, requires_grad=False), POOL))
                )
            )
        except Slow:
            return []
        return spread(pools[0], self.samples) if pools else []

    def _asked(self, info: OpInfo, sample: SampleInput) -> list[Any]:
        try:
            given: list[Any] = _timed(
                lambda: ask_oracle(lambda: self.runner._on_oracle(info.op, *self.runner._oracle_copy(sample)))
            )
        except Slow:
            return []
        return given

    def _difference(self, info: OpInfo, sample: SampleInput, expected: Any) -> str:
        gauge = sample.output_process_fn_grad if info.name in GAUGE_FREE else None
        runner, converter = self.runner, Converter(self.runner.target)
        try:
            actual = _timed(lambda: runner._on_target(runner.rebind(info.op), *runner._inputs(sample, converter)))
            reasons = runner._value_and_strides(info, converter, expected, actual, gauge)
        except Slow:
            return f"slow: more than {_SECONDS} seconds"
        except Exception as error:  # noqa: BLE001  # what a call raises where torch answers is a finding
            return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        return next((reason for reason in reasons if reason), "")


def chosen(only: str, part: str) -> Iterator[OpInfo]:
    """Yield the operators whose names fit, every M-th of them."""
    first, _, of = part.partition("/")
    fitting = [info for name, info in sorted(OPS.entries().items()) if fnmatch.fnmatch(name, only)]
    yield from fitting[int(first) - 1 :: int(of)]


def page(counts: Counts, samples: int) -> str:
    """Return the page of docs/status."""
    total = sum(counts.ran.values())
    agree = total - len(counts.different)
    by_dtype = Counter(dtype for _, dtype, _ in counts.different)
    lines = [
        "# Reference inputs of op_db\n",
        "Written by `python -m mindtorch_testing.sweep.reference --write docs/status/reference-inputs.md`: torch's larger "
        "samples, in every dtype that torch has on the CPU, up to "
        f"{samples} of each operator and dtype. Values, dtypes, shapes and strides are compared.\n",
        f"**{agree} of {total} samples agree ({agree / max(total, 1):.2%}).**\n",
        "| dtype | agree | of | |",
        "| --- | ---: | ---: | ---: |",
    ]
    for dtype, ran in sorted(counts.ran.items()):
        same = ran - by_dtype[dtype]
        lines.append(f"| {dtype.removeprefix('torch.')} | {same} | {ran} | {same / ran:.1%} |")
    lines += ["\n## What differs\n", "| operator | samples | kinds | the first |", "| --- | ---: | --- | --- |"]
    by_name: dict[str, list[tuple[str, str]]] = {}
    for name, dtype, reason in counts.different:
        by_name.setdefault(name, []).append((dtype, reason))
    for name, found in sorted(by_name.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        kinds = ", ".join(sorted({reason.partition(":")[0].partition(" ")[0] for _, reason in found}))
        dtype, reason = found[0]
        text = f"{dtype.removeprefix('torch.')}: {reason}".replace("|", "\\|")[:160]
        lines.append(f"| {name} | {len(found)} | {kinds} | {text} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="operators whose name fits this pattern")
    parser.add_argument("--part", default="1/1", help="every M-th operator, beginning with the N-th")
    parser.add_argument("--samples", type=int, default=16, help="how many run of an operator and dtype")
    parser.add_argument("--write", type=Path, help="write the page to this file")
    args = parser.parse_args()
    signal.signal(signal.SIGALRM, _ring)
    torch.set_num_threads(1)
    counts, runner = Counts(), ReferenceRunner(args.samples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in chosen(args.only, args.part):
            runner.run(info, counts)
    for name, dtype, reason in counts.different:
        print(f"{name} {dtype}: {reason}")
    total = sum(counts.ran.values())
    print(f"{total - len(counts.different)} of {total} samples agree")
    if args.write:
        write_atomically(args.write, page(counts, args.samples))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
