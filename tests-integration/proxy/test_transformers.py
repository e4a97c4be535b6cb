"""transformers' own model tests hold what the scoreboard says, in an environment without torch."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).parent / "transformers_suite"
BOARD = json.loads((SUITE.parent / "scoreboard.json").read_text())
EACH_RUN = 3


def in_rotation(number):
    """Return BERT and the next of the other models, another choice for each ``number``."""
    others = [model for model in BOARD["sdist"] if model != "bert"]
    start = number * EACH_RUN % len(others)
    return ["bert", *(others * 2)[start : start + EACH_RUN]]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("model", in_rotation(int(os.environ.get("MINDTORCH_SUITE_ROTATION") or 0)))
def test_no_test_of_transformers_got_worse(model):
    if importlib.util.find_spec("transformers") is None:
        pytest.skip("transformers is not installed")
    done = subprocess.run([sys.executable, str(SUITE), "check", "--model", model], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_model_comes_round():
    runs = [in_rotation(number) for number in range(5)]
    assert all(run[0] == "bert" and len(set(run)) == 1 + EACH_RUN for run in runs)
    assert {model for run in runs for model in run} == set(BOARD["sdist"]) == set(BOARD["checkout"])
    assert len(BOARD["sdist"]) == 16


def test_the_scoreboard_holds_what_was_reached():
    entries = [entry for held in BOARD["checkout"].values() for entry in held.values()]
    assert entries.count("pass") >= 2913
    assert all(entry == "pass" or (entry.startswith("fail: ") and "no reason" not in entry) for entry in entries)
    # A wrong number would stand here as values that are not close.
    assert not [entry for entry in entries if "not close" in entry or "not equal" in entry]


def test_the_status_page_is_that_of_the_scoreboard():
    done = subprocess.run([sys.executable, str(SUITE), "docs", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
