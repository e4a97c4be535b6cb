"""Runs a file of tests in processes of its own, again where one ends in the middle, and reads what the recorder wrote."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import recorder

Outcomes = dict[str, dict[str, str]]
CRASHES = 20  # a file that ends its process more often is given up


def handed_on(environment: dict[str, str]) -> dict[str, str]:
    """Return an environment in which what the tests start as programs of their own finds the same torch."""
    code = "import os; from mindtorch_proxy.environment import hand_on; hand_on(os.environ); print(os.environ['PYTHONPATH'])"
    handed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return environment | {"PYTHONPATH": handed.stdout.strip(), "MINDTORCH": "1"}


def command(timeout: int, *more: str, proxy: bool = True) -> list[str]:
    """Return the command that runs tests, each for so many seconds at most."""
    line = [sys.executable, "-m", "pytest", "--noconftest", "-q", "-p", "no:cacheprovider", "-p", "recorder"]
    line += ["-p", "mindtorch_proxy.pytest_plugin"] if proxy else []
    return [*line, "--timeout", str(timeout), "--tb", "short", "-o", "addopts=", *more]


def outcomes_of(
    line: list[str], folder: Path, environment: dict[str, str], record: Path
) -> tuple[Outcomes, subprocess.CompletedProcess[str]]:
    """Return what became of every test, and the last process. A test that ends its process fails."""
    for _ in range(CRASHES):
        done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True)
        outcomes, running = recorder.read(record)
        if running is None:
            break
        reason = f"the process ended with {done.returncode}"
        with record.open("a") as held:
            held.write(f'{{"test": "{running}", "status": "fail", "reason": "{reason}"}}\n')
        outcomes[running] = {"status": "fail", "reason": reason}
    return outcomes, done
