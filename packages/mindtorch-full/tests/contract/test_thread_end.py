"""The end of a process whose daemon threads compute: it ends as it would without them."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading, time
import mindtorch as torch

def product():
    operand = torch.ones(300, 300, requires_grad=True)
    while True:
        (operand @ operand).sum().backward()

def small():
    while True:
        torch.ones(3) + 1

def draw():
    while True:
        torch.rand(200000).sort()

def lazy():
    while True:
        torch.special.erfcx(torch.rand(1000))

for _ in range(4):
    threading.Thread(target=globals()[sys.argv[1]], daemon=True).start()
time.sleep(0.3)
if sys.argv[2] == "raises":
    raise KeyError("the end")
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["returns", "raises"])
@pytest.mark.parametrize("work", ["product", "small", "draw", "lazy"])
def test_daemon_threads_do_not_abort_the_process(work: str, end: str) -> None:
    for _ in range(2):
        command = [sys.executable, "-W", "ignore", "-c", PROGRAM, work, end]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == (1 if end == "raises" else 0), done.stderr
        assert ("KeyError: 'the end'" in done.stderr) == (end == "raises")
