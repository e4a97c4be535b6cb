"""Worker processes of data loaders, some of them killed: do all passes end, and does anything stay behind?

`python -m mindtorch_testing.workers --count 1000 --write PAGE` starts that many workers, forked and spawned, with both
ways of sharing memory. Where a worker is killed the pass must raise; everywhere else it must give every sample. After
each pass no file of shared memory may be left, and at the end no file descriptor and no process.
"""

from __future__ import annotations

import collections
import contextlib
import gc
import multiprocessing
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

import mindtorch as mt
from mindtorch import multiprocessing as mp
from mindtorch.utils.data import DataLoader, Dataset
from mindtorch_testing import reports

SAMPLES, WORKERS, SECONDS = 24, 4, 60
_SHARED = Path("/dev/shm")


class Rows(Dataset[Any]):
    """Samples with a worker that dies at one of them."""

    def __init__(self, fatal: int | None) -> None:
        self.fatal = fatal

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> Any:
        if index == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"index": mt.tensor(index), "data": mt.full((128,), float(index))}


def _shared_files(pids: list[int]) -> list[str]:
    """Names of shared memory that these processes made."""
    makers = tuple(f"torch_{pid}_" for pid in pids)
    return (
        sorted(entry.name for entry in _SHARED.iterdir() if entry.name.startswith(makers)) if _SHARED.is_dir() else []
    )


def _descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def serve_writes(requests: Any, answers: Any, tensor: Any) -> None:
    """Write into a received tensor and into `tensor`, answer with a part of the former, end at the next request.

    It stands in a module because a spawned process finds it by name; files of tests have none.
    """
    received = requests.get()
    received[0] = 7
    tensor.add_(1)
    answers.put(received[1:])
    requests.get()


def one_pass(method: str, strategy: str, fatal: int | None, given_up: bool) -> str | None:
    """One loader with its workers; returns what was wrong, None for nothing."""
    mp.set_sharing_strategy(strategy)
    pids = [os.getpid()]
    loader: DataLoader[Any] = DataLoader(
        Rows(fatal), 3, num_workers=WORKERS, timeout=SECONDS, multiprocessing_context=method
    )
    try:
        seen: list[int] = []
        batches = iter(loader)
        pids += [worker.pid for worker in batches._workers]
        with contextlib.suppress(StopIteration):
            while True:
                seen += next(batches)["index"].tolist()
                if given_up:
                    break
        problem = None if given_up or seen == list(range(SAMPLES)) else f"samples {seen}"
        if fatal is not None and not given_up:
            problem = "a killed worker was not reported"
    except RuntimeError as error:
        reported = fatal is not None and "exited unexpectedly" in str(error)
        problem = None if reported else f"RuntimeError: {error}"
    finally:
        mp.set_sharing_strategy("file_descriptor")
    batches = None
    gc.collect()
    left = _shared_files(pids)
    return problem or (f"left {left}" if left else None)


def run(count: int, seed: int = 0, spawned: float = 0.04) -> dict[str, Any]:
    """Start at least `count` workers; `spawned` is the share of loaders that spawn theirs."""
    source = random.Random(seed)
    counts: collections.Counter[str] = collections.Counter()
    findings: list[str] = []
    one_pass("fork", "file_system", None, False)  # what the first use opens for good
    before = _descriptors()
    started = 0
    while started < count:
        method = "spawn" if source.random() < spawned else "fork"
        strategy = source.choice(("file_descriptor", "file_system"))
        fatal = source.randrange(SAMPLES) if source.random() < 0.4 else None
        given_up = source.random() < 0.2
        problem = one_pass(method, strategy, fatal, given_up)
        end = "given up" if given_up else "all samples" if fatal is None else "killed"
        counts[f"{method}, {strategy}, {end}"] += WORKERS
        started += WORKERS
        if problem:
            findings.append(f"{method}, {strategy}, fatal {fatal}, given up {given_up}: {problem}")
    leaked = _descriptors() - before
    if leaked > 0:
        findings.append(f"{leaked} file descriptors left")
    if multiprocessing.active_children():
        findings.append(f"processes left: {multiprocessing.active_children()}")
    return {"count": started, "seed": seed, "counts": dict(sorted(counts.items())), "findings": findings}


def page(result: dict[str, Any]) -> str:
    """The page for `docs/status`."""
    text = (
        f"{result['count']} worker processes from seed {result['seed']} by `python -m mindtorch_testing.workers --count "
        f"{result['count']} --write docs/status/workers.md`. A pass with a killed worker must raise, the others give "
        "every sample; no shared memory, file descriptor or process may be left."
    )
    header = ("how started, how shared, how the pass ended", "workers")
    return reports.page("Workers of data loaders", text, header, result["counts"].items(), result["findings"])


def main() -> int:
    """Run the command line; 1 when something was found."""
    parser = reports.parser(__doc__, counted="count", count=1000)
    parser.add_argument("--spawned", type=float, default=0.04)
    arguments = parser.parse_args()
    result = run(arguments.count, arguments.seed, arguments.spawned)
    return reports.conclude(result, result["findings"], page(result), arguments.write)


if __name__ == "__main__":
    sys.exit(main())
