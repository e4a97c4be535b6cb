"""The two sides as the driver sees them: a process each, batches in, outcomes out."""

from __future__ import annotations

import marshal
import os
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindtorch_testing.fuzz.server import ANSWER, ENDED, HEADER, OUTCOME, STARTED

Program = tuple[str, str, bool]
WAITING = STARTING = 120.0
ENDING = 5.0
"""Seconds in which a process that hangs can say where."""
SERVER = Path(__file__).with_name("server.py")


@dataclass(frozen=True)
class End:
    """How a process ended: at which stage of which call, what it wrote, and all calls it was given, the last that one."""

    stage: str
    operands: str
    log: str
    calls: tuple[Program, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of one call: the encoded description, or how the process ended; seconds and megabytes it took."""

    payload: bytes
    seconds: float = 0.0
    grown: float = 0.0
    death: str = ""
    end: End | None = None

    @property
    def seen(self) -> Any:
        """The description."""
        return marshal.loads(self.payload) if self.payload else (self.death,)


class SideDied(RuntimeError):
    """A side's own process ended, not one of its batches'."""


class Side:
    """A server process of one library; `patience` is how many seconds of a processor one call may take.

    A call that waits and does not compute is ended after `WAITING` seconds by the clock, in which a busy machine
    gives a call that computes what it needs. `computed` is what all batches took of a processor.
    """

    def __init__(self, library: str, patience: float, environment: Mapping[str, str] | None = None) -> None:
        self.library, self.waiting = library, WAITING
        self.computed = 0.0
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self.process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", str(SERVER), library],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, bufsize=0,
            env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0",
                 "MINDTORCH_FUZZ_PATIENCE": str(patience), **(environment or {})},
        )  # fmt: skip

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.log):
            if stream is not None:
                stream.close()

    def messages(self) -> str:
        """Return what the process wrote to stderr since the last question, its end."""
        size = self.log.seek(0, os.SEEK_END)
        self.log.seek(max(0, size - 20_000))
        text = self.log.read().decode(errors="replace")
        self.log.truncate(0)
        return text

    def _send(self, request: str, data: Any) -> None:
        body = marshal.dumps((request, data))
        assert self.process.stdin is not None
        self.process.stdin.write(struct.pack("<i", len(body)) + body)

    def _read(self, count: int) -> bytes:
        assert self.process.stdout is not None
        data = b""
        while len(data) < count:
            piece = self.process.stdout.read(count - len(data))
            if not piece:
                raise SideDied(f"{self.library}: {self.messages()}")
            data += piece
        return data

    def _record(self) -> tuple[int, float, float, int, bytes]:
        index, length, seconds, grown, kind = HEADER.unpack(self._read(HEADER.size))
        return index, seconds, grown, kind, self._read(length)

    def present(self, names: list[str]) -> list[bool]:
        """Tell which of the names the library has."""
        self._send("present", names)
        *_, kind, payload = self._record()
        assert kind == ANSWER
        return list(marshal.loads(payload))

    def warm(self, programs: list[Program]) -> None:
        """Make calls in the server itself, so that what they load and remember is there in every batch."""
        self._send("warm", programs)
        self._record()

    def run(self, programs: list[Program]) -> list[Outcome]:
        """Return the outcome of each call; one that ends or hangs its process is told by its `death`."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(programs):
            given = programs[len(outcomes) :]
            found, death, log, (index, stage, operands) = self._batch(given)
            outcomes += found
            if len(found) < len(given):
                end = End(f"{stage} of call {index}", operands, log, tuple(given[: len(found) + 1]))
                outcomes.append(Outcome(b"", death=death, end=end))
        return outcomes

    def _batch(self, programs: list[Program]) -> tuple[list[Outcome], str, str, tuple[int, str, str]]:
        """Return the outcomes until the process ended, how it ended, what it wrote, and its trail."""
        self._send("run", programs)
        found: list[Outcome] = []
        worker, limit = self.process.pid, time.monotonic() + STARTING
        ending = [signal.SIGABRT, signal.SIGKILL]  # the first has it say where it is
        while True:
            if ending and not select.select([self.process.stdout], [], [], max(0.0, limit - time.monotonic()))[0]:
                os.kill(worker, ending.pop(0))
                limit = time.monotonic() + ENDING
                continue
            index, seconds, grown, kind, payload = self._record()
            if kind == STARTED:
                worker = index
            elif kind == OUTCOME:
                found.append(Outcome(payload, seconds, grown))
            elif kind == ENDED:
                self.computed += seconds
                hung = len(ending) < 2 or (os.WIFSIGNALED(index) and os.WTERMSIG(index) == signal.SIGPROF)
                log = self.messages()
                death = "hang" if hung else " ".join((describe_status(index), place(log))).rstrip()
                return found, death, log, marshal.loads(payload)
            limit = time.monotonic() + self.waiting


TITLES = re.compile(
    r"ERROR: \w+Sanitizer: [^\n(]*|runtime error: [^\n]*|malloc\(\)[^\n]*|free\(\)[^\n]*|corrupted [^\n]*"
)
FRAME = re.compile(r'File "[^"]*/packages/[^"]*/src/([^"]*)", line \d+ in (\w+)')


def place(log: str) -> str:
    """Say what a process wrote about its end: the title of a sanitizer or of malloc, the innermost function of ours."""
    title, frame = TITLES.search(log), FRAME.search(log)
    return " ".join(([title.group().strip()] if title else []) + ([f"in {frame[1]} {frame[2]}"] if frame else []))


def describe_status(status: int) -> str:
    """Say how a process ended."""
    if os.WIFSIGNALED(status):
        return f"crash {signal.Signals(os.WTERMSIG(status)).name}"
    return f"crash exit {os.waitstatus_to_exitcode(status)}"
