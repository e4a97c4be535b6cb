"""Run the corpus: see the package."""

from __future__ import annotations

import argparse
import collections
import importlib
import json
import os
import select
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mindtorch_testing.hostile as package
from mindtorch_testing.hostile import files
from mindtorch_testing.hostile.files import FAMILIES, make
from mindtorch_testing.hostile.judge import ALLOWED, Judge, warm_up
from mindtorch_testing.record import Record

SECONDS = 20
BATCH = 500
_PRELOADED = (
    "mindtorch.nn.parameter", "mindtorch.serialization._tar_loading", "mindtorch.tensor.printing", "tarfile", "numpy",
    "mindtorch_cpu.ops", "mindtorch.sparse", "mindtorch._dynamo", "mindtorch.npu", "mindtorch.cuda", "mindtorch.xpu",
    "mindtorch.mps", "encodings.latin_1", "encodings.ascii",
)  # fmt: skip


def _child(seed: int, numbers: list[int], pipe: int) -> None:
    """Judge files and write a line before and after each; never returns."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            judge = Judge(Path(folder))
            for number in numbers:
                os.write(pipe, f"{number}\n".encode())
                os.write(pipe, (json.dumps(judge.one(make(seed, number))) + "\n").encode())
    finally:
        os._exit(0)


class _Lines:
    """The lines that a child writes, with a limit on how long the next one may take."""

    def __init__(self, pipe: int) -> None:
        self._pipe, self._rest = pipe, b""

    def __iter__(self) -> Iterator[str]:
        while True:
            line, end, rest = self._rest.partition(b"\n")
            if end:
                self._rest = rest
                yield line.decode()
                continue
            if not select.select([self._pipe], [], [], SECONDS)[0]:
                raise TimeoutError
            piece = os.read(self._pipe, 1 << 16)
            if not piece:
                return
            self._rest += piece


def judged(seed: int, numbers: list[int]) -> Iterator[dict[str, Any]]:
    """Judge files in forked children; a child that dies or hangs is a finding of the file it had, the rest goes on.

    On a machine that others use a child may wait that long for a core: only a file that takes so long twice hangs.
    """
    slow: set[int] = set()
    while numbers:
        receive, send = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.close(receive)
            _child(seed, numbers[:BATCH], send)
        os.close(send)
        done, current, ending = 0, None, "crash"
        try:
            for line in _Lines(receive):
                if line.startswith("{"):
                    yield json.loads(line)
                    done, current = done + 1, None
                else:
                    current = int(line)
        except TimeoutError:
            ending = f"hang: more than {SECONDS} s"
            os.kill(child, signal.SIGKILL)
        os.close(receive)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if current is not None and ending.startswith("hang") and current not in slow:
            slow.add(current)
        elif current is not None:
            text = ending if ending.startswith("hang") else f"crash: the process ended with {status}"
            yield {"number": current, "outcome": ending[:5], "error": "", "memory": 0, "seconds": 0, "findings": [text]}
            done += 1
        elif not done:
            raise RuntimeError(f"a child ended with {status} before its first file")
        numbers = numbers[done:]


def numbers_of(count: int, done: int, family: str | None) -> list[int]:
    """The numbers of the next `count` files, of one family or of all, when `done` of them were judged."""
    if family is None:
        return list(range(done, done + count))
    return list(range(FAMILIES.index(family), (done + count) * len(FAMILIES), len(FAMILIES)))[done:]


def run(count: int, seed: int = 0, family: str | None = None, record: Record | None = None) -> dict[str, Any]:
    """Judge files until `count` are on record; return counts by family and outcome, errors, findings, most memory and time."""
    for name in _PRELOADED:  # in no child, where the import would look like the file's doing
        importlib.import_module(name)
    warm_up(files.good())
    record = record or Record(None)
    total = {"done": {}, "counts": {}, "errors": {}, "findings": [], "memory": [], "seconds": [], **record.read()}
    key = f"{seed} {family or ''}".rstrip()
    while (missing := count - sum(total["done"].values())) > 0:
        numbers = numbers_of(min(BATCH, missing), total["done"].get(key, 0), family)
        total = record.add({"done": {key: len(numbers)}, **tally(seed, numbers)})
        print(f"{sum(total['done'].values())} of {count} files, {len(total['findings'])} findings", flush=True)
    return {
        **total, "count": sum(total["done"].values()), "seeds": list(total["done"]),
        "memory": max(total["memory"], default=[0, 0]), "seconds": max(total["seconds"], default=[0.0, 0]),
    }  # fmt: skip


def tally(seed: int, numbers: list[int]) -> dict[str, Any]:
    """Judge files, and count."""
    counts: collections.Counter[str] = collections.Counter()
    errors: collections.Counter[str] = collections.Counter()
    findings: list[list[Any]] = []
    most, longest = [0, 0], [0.0, 0]
    for result in judged(seed, numbers):
        number = result["number"]
        name = FAMILIES[number % len(FAMILIES)]
        counts[f"{name}|{result['outcome']}"] += 1
        if result["error"]:
            errors[result["error"]] += 1
        for text in result["findings"]:
            findings.append([number, name, text])
            print(f"finding {seed}:{number} {name}: {text}", flush=True)
        most, longest = max(most, [result["memory"], number]), max(longest, [result["seconds"], number])
    return {
        "counts": dict(counts), "errors": dict(errors), "findings": findings, "memory": [most], "seconds": [longest],
    }  # fmt: skip


def page(result: dict[str, Any]) -> str:
    """The page for `docs/status`."""
    columns = ("refused", "loaded", "crash", "hang:")
    rows = []
    for name in FAMILIES:
        found = sum(1 for finding in result["findings"] if finding[1] == name)
        cells = " | ".join(str(result["counts"].get(f"{name}|{column}", 0)) for column in columns)
        rows.append(f"| {name} | {cells} | {found} |")
    errors = ", ".join(f"{name} {count}" for name, count in sorted(result["errors"].items(), key=lambda item: -item[1]))
    return "\n".join(
        [
            "# Hostile checkpoints",
            "",
            f"{result['count']} files of seed {', '.join(result['seeds'])} by `python -m mindtorch_testing.hostile --count "
            f"{result['count']} --write docs/status/hostile-files.md`, loaded with "
            "`weights_only=True` in memory and mapped; what a file gave was printed, computed with, differentiated and "
            "saved again. `SECURITY.md` says what is promised. A finding is a process that died or hung for "
            f"{SECONDS} s, code, an import, a file or a process that a load caused, memory beyond twice the file and "
            f"{ALLOWED >> 20} MiB, a tensor outside its storage, or an error that is none of those documented.",
            "",
            "| family | refused | loaded | crashed | hung | findings |",
            "|---|---:|---:|---:|---:|---:|",
            *rows,
            "",
            f"Errors: {errors}.",
            f"Most memory: {result['memory'][0] / 2**20:.1f} MiB beyond twice the file. Longest load: "
            f"{result['seconds'][0]:.1f} s.",
            f"Findings: {len(result['findings'])}",
            *[f"- {number} ({name}): {text}" for number, name, text in result["findings"]],
            "",
        ]
    )


def main() -> int:
    """Run the command line; 1 when something was found."""
    parser = argparse.ArgumentParser(description=package.__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--family", choices=FAMILIES, help="files of this family alone")
    parser.add_argument("--file", type=int, metavar="NUMBER", help="write this file to stdout and judge nothing")
    parser.add_argument("--write", type=Path, help="write the page to this file")
    parser.add_argument("--record", type=Path, help="go on from what this file counted; several processes may share it")
    options = parser.parse_args()
    if options.file is not None:
        sys.stdout.buffer.write(make(options.seed, options.file).data)
        return 0
    result = run(options.count, options.seed, options.family, Record(options.record))
    print(json.dumps({**result, "findings": len(result["findings"])}, indent=1))
    if options.write:
        options.write.write_text(page(result))
    return 1 if result["findings"] else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
