"""PyTorch's own tests hold what their board says, in an environment without torch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).parents[1] / "pytorch_suite"
BOARD = json.loads((SUITE / "board.json").read_text())
REACHED = 4625
SECONDS = 240


def run(*arguments):
    """Run the command line of the suite in this environment."""
    return subprocess.run([sys.executable, str(SUITE), *arguments], capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_test_of_pytorch_got_worse():
    where = run("where")
    if where.returncode:
        pytest.skip(where.stdout.strip())
    number = os.environ.get("MINDTORCH_SUITE_ROTATION") or "0"
    done = run("check", "--rotation", number, "--seconds", str(SECONDS))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_board_holds_what_was_reached():
    entries = [entry for held in BOARD.values() for entry in held.values()]
    assert entries.count("pass") >= REACHED
    assert all(entry == "pass" or (entry.startswith("fail: ") and "no reason" not in entry) for entry in entries)


def test_the_status_page_is_that_of_the_board():
    done = run("docs", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
