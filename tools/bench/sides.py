"""The two worker processes and how to talk to them."""

import json
import os
import subprocess
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")


class SideError(Exception):
    """A side could not do what it was asked."""


class Side:
    """A worker process."""

    def __init__(self, name: str, interpreter: str, threads: int) -> None:
        self.name = name
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MINDTORCH")}
        self._process = subprocess.Popen(
            [interpreter, str(WORKER), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if not os.environ.get("BENCH_VERBOSE") else None,
            text=True,
            env={**environment, **limits, "HF_HUB_OFFLINE": "1"},
        )
        self.started = False

    def prepare(self, module: str, case: str, warm_up: int) -> None:
        """Make a case ready; the first one also imports torch on this side."""
        if not self.started:
            self.ask(do="start")
            self.started = True
        self.ask(do="prepare", module=module, case=case, warm_up=warm_up)

    def ask(self, **command: object) -> dict:
        """Send a command and return the answer; raises `SideError` when the side says it failed."""
        if self._process.stdin is None or self._process.stdout is None:
            raise SideError(f"{self.name}: no pipes")
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise SideError(f"{self.name}: the process ended (BENCH_VERBOSE=1 shows why)")
        answer = json.loads(line)
        if "error" in answer:
            raise SideError(f"{self.name}: {answer['error']}")
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()


def start_sides(ours: str, torch: str, threads: int) -> tuple[Side, Side]:
    """Start both workers."""
    return Side("ours", ours, threads), Side("torch", torch, threads)
