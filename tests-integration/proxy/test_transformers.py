"""transformers' own model tests hold what the scoreboard says, in an environment without torch."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).parent / "transformers_suite"


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("model", ["bert", "gpt2", "llama"])
def test_no_test_of_transformers_got_worse(model):
    if importlib.util.find_spec("transformers") is None:
        pytest.skip("transformers is not installed")
    done = subprocess.run([sys.executable, str(SUITE), "check", "--model", model], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
