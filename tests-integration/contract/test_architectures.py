"""Sixteen architectures compute on MindTorch what they compute on torch, tokens of every way of generating included."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("transformers")

FEATURES = ("attention", "gradient checkpointing", "bfloat16", "loading without memory", "tied weights", "resized")
COMMAND = Path(__file__).parents[1] / "architectures"


@pytest.mark.slow
def test_every_architecture_equals_torch():
    done = subprocess.run([sys.executable, str(COMMAND)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.count("| nothing |") == 16
    assert all(feature in done.stdout for feature in FEATURES)
