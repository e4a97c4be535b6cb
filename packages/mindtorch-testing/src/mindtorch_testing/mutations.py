"""Damaged checkpoints: what `load` does with files that bytes were changed in.

`python -m mindtorch_testing.mutations --count 20000 --write PAGE` makes them from a seed, loads each in worker processes
with a memory limit and counts what happened. A load may refuse a file, or give exactly the values that were saved;
anything else is a finding: other values although the file has checksums, code that ran, a process that died, memory
beyond the limit.
"""

from __future__ import annotations

import argparse
import collections
import io
import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindtorch as mt

_LIMIT = 1 << 30  # address space that a batch may use beyond what the process has at its start
_SLACK = 8 << 20  # what loading needs whatever the file's size: code objects, buffers, error texts
BATCH = 500
REFUSED, UNCHANGED, UNCHECKED = "refused", "unchanged", "changed, no checksum"
CHANGED, RAN, CRASHED, MEMORY = "changed", "ran code", "crashed", "memory"
FINDINGS = (CHANGED, RAN, CRASHED, MEMORY)


class Canary:
    """Notes that a file made code run."""

    touched = False

    def __call__(self, *args: Any) -> None:
        Canary.touched = True


def _saved(value: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    mt.save(value, stream, **options)
    return stream.getvalue()


def originals() -> dict[str, tuple[bytes, bool]]:
    """Checkpoints to damage: their bytes, and whether every byte of data is under a checksum."""
    mt.manual_seed(0)
    linear = mt.nn.Linear(16, 8)
    optimizer = mt.optim.Adam(linear.parameters())
    linear(mt.ones(2, 16)).sum().backward()
    optimizer.step()
    base = mt.arange(64.0).reshape(8, 8)
    nested = {
        "a": [base, base.t(), base[2:4]],
        "n": (1, 2.5, None, True, "text"),
        "p": mt.nn.Parameter(base[:1].clone()),
    }
    state = {"model": linear.state_dict(), "optimizer": optimizer.state_dict()}
    return {
        "nested": (_saved(nested), True),
        "state": (_saved(state), True),
        "large": (_saved({"w": mt.arange(50_000)}), True),
        "legacy": (_saved(nested, _use_new_zipfile_serialization=False), False),
    }


def flipped(data: bytes, source: random.Random) -> bytes:
    """One to eight bits changed anywhere."""
    changed = bytearray(data)
    for _ in range(source.choice((1, 1, 2, 8))):
        changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)
    return bytes(changed)


def overwritten(data: bytes, source: random.Random) -> bytes:
    """A run of bytes replaced by random ones."""
    start = source.randrange(len(data))
    length = min(source.randint(1, 64), len(data) - start)
    return data[:start] + source.randbytes(length) + data[start + length :]


def truncated(data: bytes, source: random.Random) -> bytes:
    """The end, or a piece of the middle, missing."""
    cut = source.randrange(len(data))
    if source.random() < 0.5:
        return data[:cut]
    return data[:cut] + data[min(len(data), cut + source.randint(1, 512)) :]


_PICKLES = (
    b"\x80\x02cposix\nsystem\nX\x04\x00\x00\x00true\x85R.",
    b"\x80\x02cmindtorch_testing.mutations\nCanary\n)R)R.",
    b"\x80\x02cmindtorch_testing.mutations\nCanary\n)\x81}b)R.",
    b"\x80\x02cbuiltins\neval\nX\x01\x00\x00\x001\x85R.",
    b"\x80\x02cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
    b"\x80\x02ctorch\nSize\nJ\xff\xff\xff\x7f\x85R.",
    b"\x80\x02X\xff\xff\xff\xff.",
    b"\x80\x02]q\x00h\x00a" + b"h\x00a" * 100 + b".",
    b"\x80\x02" + b"(" * 5000 + b".",
    b"\x80\x02" + b"]" + b"]a" * 3000 + b".",
    b"\x80\x02ccollections\nOrderedDict\n)R}(X\x09\x00\x00\x00__class__cmindtorch_testing.mutations\nCanary\nub.",
    b"\x80\x02\x8a\xff" + b"\x7f" * 255 + b".",
)


def _rewritten(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The archive with another `data.pkl` under a right checksum, so that the pickle is what is tried."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(result, "w") as new:
        for item in old.infolist():
            content = old.read(item)
            changed = change(content) if item.filename.endswith("data.pkl") else content
            new.writestr(zipfile.ZipInfo(item.filename), changed)  # without the time, so that a seed gives one file
    return result.getvalue()


def spliced(data: bytes, source: random.Random) -> bytes:
    """A pickle replaced by, or interleaved with, one that names code or asks for the impossible."""
    other = source.choice(_PICKLES)

    def change(content: bytes) -> bytes:
        kind = source.random()
        if kind < 0.4:
            return other
        place = source.randrange(2, len(content))
        return content[:place] + other[2:-1] + content[place if kind < 0.7 else min(len(content), place + 9) :]

    if data.startswith(b"PK"):
        return _rewritten(data, change)
    return change(data)


def oversized(data: bytes, source: random.Random) -> bytes:
    """A length field that says more than there is."""
    changed = bytearray(data)
    marks = (
        (b"PK\x01\x02", b"PK\x05\x06", b"PK\x03\x04", b"PK\x06\x06") if data.startswith(b"PK") else (b"J", b"X", b"K")
    )
    places = [place for mark in marks for place in _occurrences(data, mark)]
    place = source.choice(places or [0])
    offset = place + source.randrange(1 if len(marks[0]) == 1 else 4, 48)
    huge = struct.pack(source.choice(("<I", "<Q", "<H")), source.choice((0xFFFF, 0x7FFF)))
    huge = source.choice((huge, b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\xff" * 7 + b"\x7f"))
    changed[offset : offset + len(huge)] = huge
    return bytes(changed)


def _occurrences(data: bytes, mark: bytes) -> list[int]:
    found: list[int] = []
    place = data.find(mark)
    while place >= 0 and len(found) < 64:
        found.append(place)
        place = data.find(mark, place + 1)
    return found


KINDS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "bits flipped": flipped,
    "bytes overwritten": overwritten,
    "truncated": truncated,
    "pickle spliced": spliced,
    "length oversized": oversized,
}


def _flat(value: Any) -> Any:
    """A value as bytes and plain values, to compare what was loaded with what was saved."""
    if isinstance(value, mt.Tensor):
        return type(value).__name__, str(value.dtype), tuple(value.shape), value.detach().contiguous().numpy().tobytes()
    if isinstance(value, dict):
        return [(_flat(key), _flat(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(_flat, value)]
    return repr(value)


class Batch:
    """Loads damaged files and says what happened to each."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._files = originals()
        self._expected = {name: _flat(mt.load(io.BytesIO(data))) for name, (data, _) in self._files.items()}
        self._folder = tempfile.TemporaryDirectory()
        self.peak = 0
        self.refusal = ""

    def one(self, number: int) -> tuple[str, str]:
        """The kind of damage of file `number`, and the outcome."""
        source = random.Random(f"{self.seed}-{number}")
        kind = list(KINDS)[number % len(KINDS)]
        name = source.choice(list(self._files))
        original, checked = self._files[name]
        data = KINDS[kind](original, source)
        mapped = checked and source.random() < 0.2
        path = Path(self._folder.name, "file.pt")
        if mapped:
            path.write_bytes(data)
        # A rewritten pickle is a valid file with other content, and the older format has no checksums.
        checked = checked and kind != "pickle spliced" and not mapped
        outcome = self._outcome(path if mapped else io.BytesIO(data), mapped, name, len(data))
        return kind, UNCHECKED if outcome == CHANGED and not checked else outcome

    def _outcome(self, file: Any, mapped: bool, name: str, size: int) -> str:
        Canary.touched = False
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = _flat(mt.load(file, mmap=mapped))
            outcome = UNCHANGED if result == self._expected[name] else CHANGED
        except Exception as error:  # noqa: BLE001 - every exception is a refusal
            outcome, self.refusal = REFUSED, repr(error)
        used = tracemalloc.get_traced_memory()[1] - before
        self.peak = max(self.peak, used - 2 * size)
        if used > 2 * size + _SLACK:
            outcome = MEMORY
        return RAN if Canary.touched else outcome


def run_batch(seed: int, start: int, count: int) -> dict[str, Any]:
    """Try `count` files in this process, with its memory limited; returns outcomes by kind and the findings."""
    batch = Batch(seed)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + _LIMIT
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    tracemalloc.start()
    counts: collections.Counter[str] = collections.Counter()
    findings = []
    for number in range(start, start + count):
        print(number, file=sys.stderr, flush=True)
        kind, outcome = batch.one(number)
        counts[f"{kind}|{outcome}"] += 1
        if outcome in FINDINGS:
            findings.append([number, kind, outcome])
    return {"counts": counts, "findings": findings, "peak": batch.peak}


def run(count: int, seed: int = 0) -> dict[str, Any]:
    """Try `count` files in batches, each in a process of its own; a process that dies is a finding."""
    counts: collections.Counter[str] = collections.Counter()
    findings: list[Any] = []
    peak, start = 0, 0
    while start < count:
        size = min(BATCH, count - start)
        command = [sys.executable, "-m", "mindtorch_testing.mutations", "--batch", f"{seed},{start},{size}"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=900, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
        if done.returncode != 0:
            numbers = [line for line in done.stderr.splitlines() if line.isdigit()]
            last = int(numbers[-1]) if numbers else start
            findings.append([last, list(KINDS)[last % len(KINDS)], CRASHED])
            counts[f"{findings[-1][1]}|{CRASHED}"] += last + 1 - start
            start = last + 1
            continue
        result = json.loads(done.stdout)
        counts.update(result["counts"])
        findings += result["findings"]
        peak = max(peak, result["peak"])
        start += size
    return {"count": count, "seed": seed, "counts": dict(counts), "findings": findings, "peak": peak}


def page(result: dict[str, Any]) -> str:
    """The page for `docs/status`."""
    outcomes = (REFUSED, UNCHANGED, UNCHECKED, *FINDINGS)
    lines = [
        "# Damaged checkpoints",
        "",
        f"{result['count']} files made from seed {result['seed']} by `python -m mindtorch_testing.mutations --count "
        f"{result['count']} --write docs/status/checkpoints.md`: in memory and mapped, of the zip format and the older one. "
        "Each batch runs in a process with 1 GiB of memory beyond its start.",
        "",
        "`unchanged`: loaded with the values that were saved, as the damage hit padding or unused fields. `changed, no "
        "checksum`: other values where nothing covers them, that is the older format, mapped data, and a pickle that was "
        "replaced together with its checksum. Every outcome to the right of these is a finding.",
        "",
        "| damage | " + " | ".join(outcomes) + " |",
        "|---|" + "---:|" * len(outcomes),
    ]
    for kind in KINDS:
        lines.append(f"| {kind} | " + " | ".join(str(result["counts"].get(f"{kind}|{o}", 0)) for o in outcomes) + " |")
    lines += ["", f"Most memory of a load: {result['peak'] / 1024:.0f} KiB more than twice its file.", ""]
    return "\n".join(lines)


def main() -> int:
    """Run the command line; 1 when something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="write the page to this file")
    parser.add_argument("--batch", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.batch:
        print(json.dumps(run_batch(*map(int, arguments.batch.split(",")))))
        return 0
    result = run(arguments.count, arguments.seed)
    print(json.dumps(result, indent=1))
    if arguments.write:
        arguments.write.write_text(page(result))
    return 1 if result["findings"] else 0


if __name__ == "__main__":
    sys.exit(main())
