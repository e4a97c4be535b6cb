"""Start the ranks of a program, each a process, wait for them, and say how each of them ended."""

import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")

STACKS = 5.0
"""The seconds that a process has to write its stacks before it is killed."""
TRIES = 3
"""How often ranks of torch run at most, where torch itself ends one of them."""
_AT_EXIT = ("terminate called without an active exception", "<no Python frame>")
"""What C++ and Python's fault handler write when a thread of torch is ended by an interpreter that goes down."""


class Ended(NamedTuple):
    """How a rank ended."""

    code: int
    output: str
    errors: str
    late: float = 0.0
    """The seconds after which it was stopped; 0 when it ended by itself."""

    @property
    def how(self) -> str:
        """That in words."""
        return f"did not end in {self.late:.0f} s" if self.late else meaning(self.code)


class Failed(Exception):
    """A rank failed, or did not end in time; the text says which, and why."""


@contextlib.contextmanager
def reserved_port() -> Iterator[int]:
    """A port that nobody else is given until the block ends, and that a rank may listen at.

    The socket is bound and does not listen: the kernel gives its port to no socket that takes any port, and to one that
    names it, as a store does.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("", 0))
        yield int(holder.getsockname()[1])


def variables(rank: int, size: int, port: int) -> dict[str, str]:
    """What a rank reads in its environment."""
    told = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size, "MASTER_PORT": port}
    return {name: str(value) for name, value in told.items()} | {"MASTER_ADDR": "127.0.0.1"}


def meaning(code: int) -> str:
    """An exit status in words."""
    return f"died by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"


def torch_ended_itself(library: str, text: str) -> bool:
    """Whether torch, and no statement of a program, aborted a rank that wrote this text.

    A thread of gloo that gives back an object of Python asks for the interpreter's lock. When the interpreter goes down at
    that moment, it ends the thread; torch's functions allow no unwinding, so C++ aborts the process, whatever the program
    computed before. Ours has no such threads: the same words of our ranks are a failure.
    """
    return library == "torch" and all(words in text for words in _AT_EXIT)


def settled(library: str, run: Callable[[], Result], text: Callable[[Result], str]) -> Result:
    """What running ranks of a library gives; torch's run again, a few times, where torch ended itself."""
    for _ in range(TRIES - 1):
        result = run()
        if not torch_ended_itself(library, text(result)):
            return result
    return run()


class World:
    """The ranks of a program, `python ARGUMENTS` each."""

    def __init__(self, arguments: Sequence[str], size: int) -> None:
        self._held = contextlib.ExitStack()
        port = self._held.enter_context(reserved_port())
        self.processes = [self._start(arguments, variables(rank, size, port)) for rank in range(size)]

    @staticmethod
    def _start(arguments: Sequence[str], told: dict[str, str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1", **told},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, seconds: float) -> list[Ended]:
        """How all ended; those that do not in time say where they are, and are killed."""
        until = time.monotonic() + seconds
        with self._held, ThreadPoolExecutor(len(self.processes)) as readers:
            try:
                return list(readers.map(lambda process: _ended(process, until, seconds), self.processes))
            finally:
                for process in self.processes:
                    process.kill()


def _ended(process: subprocess.Popen[str], until: float, seconds: float) -> Ended:
    try:
        output, errors = process.communicate(timeout=max(until - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # Python writes the stacks of all threads
    else:
        return Ended(process.returncode, output, errors)
    try:
        output, errors = process.communicate(timeout=STACKS)
    except subprocess.TimeoutExpired:
        process.kill()
        output, errors = process.communicate()
    return Ended(process.returncode, output, errors, seconds)


def told(ended: Sequence[Ended], lines: int = 60) -> str:
    """How ranks ended, and the last lines of those that failed."""
    heads = [f"rank {rank} {end.how}" for rank, end in enumerate(ended)]
    tails = ["\n".join([f"--- rank {rank}", *(end.output + end.errors).splitlines()[-lines:]])
             for rank, end in enumerate(ended) if end.code]  # fmt: skip
    return "\n".join([*heads, *tails])


def answers(arguments: Sequence[str], size: int, mark: str, seconds: float) -> list[Any]:
    """The JSON that ranks of a program write after a mark; those that write none are left out."""
    library = "torch" if "torch" in arguments else "mindtorch"
    ended = settled(library, lambda: World(arguments, size).finish(seconds), told)
    if any(end.code for end in ended):
        raise Failed(f"{shlex.join(arguments)} on {size} ranks:\n{told(ended)}")
    lines = [line for end in ended for line in end.output.splitlines() if line.startswith(mark)]
    return [json.loads(line.removeprefix(mark)) for line in lines]
