"""Forks while threads import and compute: does every child end, with the right answers?

`python -m mindtorch_testing.forks --forks 10000 --write PAGE` forks that many children. Processes of some seconds are
made one after the other. In each of them four threads import what MindTorch imports lazily, by attribute, by statement
and under torch's names, and between two imports compute, differentiate and draw numbers, while the main thread forks.
A child resolves the names that the threads were at, then others, and computes. One that does not end within `SECONDS`
hangs; the traceback of where it waits is kept. With `--record FILE` a run that was stopped goes on.
"""

from __future__ import annotations

import collections
import faulthandler
import importlib
import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import mindtorch as mt
import mindtorch_proxy
from mindtorch import _surface
from mindtorch_testing import reports
from mindtorch_testing.record import Record

THREADS, SECONDS, FORKS_A_ROUND, NAMES_A_THREAD = 4, 30, 40, 30
FAR = 1_000_003  # between two seeds' rounds
ENDED, RAISED, HUNG, DIED = "ended", "raised", "hung", "died"
_RAISED = 3  # the exit status
_OURS, _THEIRS = "mindtorch", "torch"
_COMMANDS = ("__main__", "_doctor", "_environment")
_OPTIONAL = ("utils.tensorboard", "_dynamo.test_case")  # which stand on something that MindTorch does not bring


def attributes() -> list[str]:
    """Names of the package that are imported when they are first asked for."""
    modules = [name for name in sorted(_surface.SUBMODULES) if importlib.util.find_spec(f"{_OURS}.{name}") is not None]
    return modules + sorted(_surface.HOMES)


def modules() -> list[str]:
    """Modules below the package, without the package's own name."""
    root = Path(mt.__file__).parent
    found = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for path in root.rglob("*.py")
    }
    wanted = (name for name in found if name.split(".")[-1] not in ("__init__", *_COMMANDS))
    return sorted(name for name in wanted if not name.startswith(_OPTIONAL))


def compute(source: random.Random) -> None:
    """Compute, differentiate and draw a little; AssertionError for a wrong answer."""
    rows = source.randrange(2, 40)
    leaf = mt.ones(rows, 3, requires_grad=True)
    (leaf * 2).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [[2.0] * 3] * rows
    assert (mt.ones(rows, rows) @ mt.ones(rows, 1)).tolist() == [[float(rows)]] * rows
    assert mt.rand(rows).numel() == rows
    assert mt.arange(100_000).sum().item() == 4999950000  # by several threads of the pool, where there are such


def resolve(name: str) -> None:
    """Import `name`: a module by its full name, or an attribute as `.name`."""
    if name.startswith("."):
        getattr(mt, name[1:])
    else:
        assert importlib.import_module(name) is sys.modules[name]


class Importers:
    """Threads that resolve names; `at` says which one each of them is at."""

    def __init__(self, names: list[str], seed: int) -> None:
        self.at = [names[0]] * THREADS
        self.errors: list[str] = []
        self.threads = [
            threading.Thread(target=self._work, args=(index, names[index::THREADS], seed), daemon=True)
            for index in range(THREADS)
        ]

    def start(self) -> None:
        """Start them all."""
        for thread in self.threads:
            thread.start()

    def alive(self) -> bool:
        """Say whether one of them has still something to do."""
        return any(thread.is_alive() for thread in self.threads)

    def _work(self, index: int, names: list[str], seed: int) -> None:
        source = random.Random(seed + index)
        try:
            for name in names:
                self.at[index] = name
                resolve(name)
                for _ in range(source.randrange(5)):
                    compute(source)
                time.sleep(source.random() * 0.1)  # a fork waits for the end of all imports
        except Exception as error:  # noqa: BLE001 - told by the process, which goes on
            text = "".join(traceback.format_exception(error))
            self.errors.append(f"thread at {self.at[index]}: {text}")


def child_work(names: list[str], seed: int) -> None:
    """What a child does."""
    for name in names:
        resolve(name)
    compute(random.Random(seed))


def outcome(work: Callable[[], None], log: IO[str]) -> str:
    """Run `work` in a forked child, which writes into `log` what went wrong; return how it ended."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)  # `faulthandler` writes where all threads are, then the signal ends the process
        try:
            work()
            os._exit(0)
        except Exception as error:  # noqa: BLE001 - the parent tells it
            traceback.print_exception(error, file=log)
            log.flush()
            os._exit(_RAISED)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: ENDED, _RAISED: RAISED, -signal.SIGALRM: HUNG}.get(status, f"{DIED} ({status})")


@contextmanager
def written_down() -> Iterator[IO[str]]:
    """A file into which `faulthandler` writes at an alarm, in this process and its children."""
    with tempfile.TemporaryFile("w+") as log:
        before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
        faulthandler.register(signal.SIGALRM, log, all_threads=True, chain=True)
        try:
            yield log
        finally:
            faulthandler.unregister(signal.SIGALRM)
            signal.signal(signal.SIGALRM, before)


def taken(log: IO[str]) -> str:
    """Return what `log` has, and empty it."""
    log.flush()
    log.seek(0)
    text = log.read()
    log.seek(0)
    log.truncate()
    return text


def names_of_round(source: random.Random, under_torch: bool) -> list[str]:
    """What the threads of one round resolve, in this order."""
    package = _THEIRS if under_torch else _OURS
    every = [f".{name}" for name in attributes()] + [f"{package}.{name}" for name in modules()]
    return source.sample(every, min(NAMES_A_THREAD * THREADS, len(every)))


def one_round(seed: int, most: int) -> dict[str, Any]:
    """Fork up to `most` children while threads work; to be run in a process of its own."""
    source = random.Random(seed)
    under_torch = source.random() < 0.5 and _THEIRS not in sys.modules
    if under_torch:
        mindtorch_proxy.install()
    names = names_of_round(source, under_torch)
    importers = Importers(names, seed)
    counts: collections.Counter[str] = collections.Counter()
    findings = []
    with written_down() as log:
        importers.start()
        while importers.alive() and counts.total() < most:
            signal.alarm(3 * SECONDS)  # the fork itself may hang
            time.sleep(source.random() * 0.02)
            work = [*importers.at, *source.sample(names, 2)]
            number = source.randrange(1 << 30)
            ended = outcome(lambda work=work, number=number: child_work(work, number), log)  # type: ignore[misc]
            counts[ended] += 1
            if ended != ENDED:
                findings.append(f"child at {work}: {ended}\n{taken(log)}")
        signal.alarm(0)
    return {"counts": dict(counts), "findings": findings + importers.errors}


def run_round(seed: int, most: int) -> dict[str, Any]:
    """Return what `one_round` does, from a forked process."""
    receive, send = os.pipe()
    with tempfile.TemporaryFile("w+") as log:
        process = os.fork()
        if process == 0:
            os.dup2(log.fileno(), sys.stderr.fileno())
            os.close(receive)
            with os.fdopen(send, "w") as pipe:
                json.dump(one_round(seed, most), pipe)
            os._exit(0)
        os.close(send)
        with os.fdopen(receive) as pipe:
            text = pipe.read()
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        log.seek(0)
        if status or not text:
            return {"counts": {}, "findings": [f"the parent of seed {seed} ended with {status}\n{log.read()}"]}
    answer: dict[str, Any] = json.loads(text)
    return answer


def run(forks: int, seed: int = 0, enough: int = 20, record: Record | None = None) -> dict[str, Any]:
    """Fork children in as many rounds as it takes, until `forks` are on record; stop at `enough` findings."""
    record = record or Record(None)
    total = {"counts": {}, "rounds": {}, "findings": [], **record.read()}
    while sum(total["counts"].values()) < forks and len(total["findings"]) < enough:
        number = total["rounds"].get(str(seed), 0)
        answer = run_round(seed * FAR + number, min(FORKS_A_ROUND, forks - sum(total["counts"].values())))
        for finding in answer["findings"]:
            print(finding, flush=True)
        total = record.add({**answer, "rounds": {str(seed): 1}})
        if number % 10 == 9:
            print(f"{sum(total['counts'].values())} of {forks} forks: {total['counts']}", flush=True)
    return total


def page(result: dict[str, Any]) -> str:
    """The page for `docs/status`."""
    version, forks = ".".join(map(str, sys.version_info[:2])), sum(result["counts"].values())
    text = (
        f"{forks} children of {sum(result['rounds'].values())} processes, seeds {', '.join(result['rounds'])}, Python "
        f"{version}, by `python -m mindtorch_testing.forks --forks {forks} --write docs/status/forks.md`. {THREADS} threads "
        "of the parent import modules, compute, differentiate and draw; a child imports what they were at and computes."
    )
    found = [finding.splitlines()[0] for finding in result["findings"]]
    header, rows = ("how the child ended", "children"), sorted(result["counts"].items())
    return reports.page("Forks while threads import and compute", text, header, rows, found)


def main() -> int:
    """Run the command line; 1 when something was found."""
    parser = reports.parser(__doc__, counted="forks", count=1000)
    parser.add_argument("--record", type=Path, help="go on from what this file counted; several processes may share it")
    arguments = parser.parse_args()
    result = run(arguments.forks, arguments.seed, record=Record(arguments.record))
    summary = {**result, "findings": len(result["findings"])}
    return reports.conclude(summary, result["findings"], page(result), arguments.write)


if __name__ == "__main__":
    sys.exit(main())
