"""`tools/mutate`: every mutation applies, and the tests notice a few of them (all: `python tools/mutate run`)."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def mutate(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(ROOT / "tools" / "mutate"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_mutation_applies():
    done = mutate("check")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "the version check of saved inputs is dropped",
        "tensor hooks run in reverse",
        "the order of keys is flipped",
        "in-place ops do not count their write",
    ],
)
def test_mutation_is_noticed(name):
    pytest.importorskip("torch", reason="oracle")
    done = mutate("run", "--name", name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "killed" in done.stdout
