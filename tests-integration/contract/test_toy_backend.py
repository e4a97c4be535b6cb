"""A backend of another distribution, made with `register_backend` alone, passes the conformance suite."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[1] / "toy_conformance.py"
SOME = ["add.Tensor", "amax", "mul.Tensor", "addmm", "gt.Tensor", "cumsum", "layer_norm"]


def run(*ops: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, PROGRAM, *ops], capture_output=True, text=True)


def test_some_operators_conform():
    shown = run(*SOME)
    assert shown.returncode == 0, shown.stdout + shown.stderr


@pytest.mark.slow
def test_all_operators_conform():
    shown = run()
    assert shown.returncode == 0, shown.stdout + shown.stderr
