"""Runs entries in worker processes: a crash or a hang costs one entry, not the sweep."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Container, Iterable
from typing import Any, TextIO

from mindtorch_testing.sweep.outcome import EntryResult
from mindtorch_testing.sweep.runner import Limits
from mindtorch_testing.sweep.suites import OPS, Suite

GRACE = 20.0
"""Seconds beyond an entry's own limit after which the worker counts as hanging in native code."""


class Worker:
    """One worker process and the pipe to it."""

    def __init__(self, target: str, limits: Limits, log: TextIO | None, suite: Suite = OPS) -> None:
        settings = json.dumps({"target": target, "limits": dataclasses.asdict(limits), "suite": suite.name})
        self._limits = limits
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mindtorch_testing.sweep.worker", settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log if log is not None else subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
        )
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError("the sweep worker could not start; run it with --log to see why")
        self.names: list[str] = json.loads(line)["ready"]

    def run(self, name: str) -> dict[str, Any] | None:
        """Run one entry; None when the worker died or hung (then it is no longer usable)."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the sweep worker has no pipes")
        try:
            stdin.write(name + "\n")
            stdin.flush()
        except BrokenPipeError:
            return None
        ready, _, _ = select.select([stdout], [], [], self._limits.seconds + GRACE)
        line = stdout.readline() if ready else ""
        return json.loads(line) if line else None

    def reason(self) -> str:
        """Say how the worker ended, ending it if it still runs."""
        if self._process.poll() is None:
            try:
                self._process.wait(GRACE)
            except subprocess.TimeoutExpired:
                self.close()
                return "hung in native code; the worker was stopped"
        code = self._process.returncode
        if code < 0:
            return f"crashed the process: {signal.Signals(-code).name}"
        return f"ended the process with exit status {code}"

    def close(self) -> None:
        """Stop the process."""
        self._process.kill()
        self._process.wait()


def select_names(names: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """Return the entries that match any of the shell patterns; a bare op name takes its variants along."""
    wanted = list(patterns)
    if not wanted:
        return list(names)
    return [n for n in names if any(fnmatch.fnmatchcase(n, p) or n.startswith(p + ".") for p in wanted)]


def sweep(
    target: str,
    limits: Limits,
    patterns: Iterable[str] = (),
    *,
    suite: Suite = OPS,
    log: TextIO | None = None,
    progress: Callable[[int, int, dict[str, Any]], None] | None = None,
    skip: Container[str] = (),
) -> dict[str, dict[str, Any]]:
    """Run the matching entries, but those to `skip`, and return their results by name."""
    worker = Worker(target, limits, log, suite)
    names = [name for name in select_names(worker.names, patterns) if name not in skip]
    results: dict[str, dict[str, Any]] = {}
    for position, name in enumerate(names, 1):
        found = worker.run(name)
        if found is None:
            lost = EntryResult(name, fields=suite.fields)
            reason = worker.reason()
            for field in suite.headline:
                lost.outcome(field).bad(reason)
            found = lost.to_json()
            worker = Worker(target, limits, log, suite)
        results[name] = found
        if progress is not None:
            progress(position, len(names), found)
    worker.close()
    return results
