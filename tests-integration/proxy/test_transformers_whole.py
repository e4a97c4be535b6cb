"""The command that runs every suite of a checkout: its shards, its board, and what it says of a test that got worse."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

SUITE = Path(__file__).parent / "transformers_suite"

TESTS = """
import unittest

import torch


class {name}ModelTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(torch.ones(2).sum().item(), 2)

    def test_name(self):
        self.assertNotEqual("{name}", "Two")
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """The command in a place of its own, over a checkout of three suites; it returns the status and what was printed."""
    if importlib.util.find_spec("transformers") is None:
        pytest.skip("transformers is not installed")
    root = tmp_path_factory.mktemp("whole")
    own = root / "project" / "tests-integration" / "proxy" / "transformers_suite"
    shutil.copytree(SUITE, own, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "project" / "docs" / "status").mkdir(parents=True)
    held = SUITE.parents[2] / ".hatch" / "transformers-tests"
    for archive in held.glob("transformers-*.tar.gz"):  # what is here already is not downloaded again
        (root / "project" / ".hatch" / "transformers-tests").mkdir(parents=True)
        shutil.copyfile(archive, root / "project" / ".hatch" / "transformers-tests" / archive.name)
    tests = root / "checkout" / "tests"
    for name in ("generation", "utils", "models/one", "models/three", "models/two"):
        (tests / name).mkdir(parents=True)
    for name in ("One", "Two", "Three"):
        (tests / f"models/{name.lower()}/test_modeling_{name.lower()}.py").write_text(TESTS.format(name=name))

    def run(*arguments):
        settings = {**os.environ, "TRANSFORMERS_TESTS": str(tests)}
        done = subprocess.run(
            [sys.executable, str(own), "whole", *arguments], capture_output=True, text=True, env=settings
        )
        return done.returncode, done.stdout + done.stderr, own.parent / "whole.json"

    return run


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_shards_together_are_the_whole_and_a_stopped_run_goes_on(command):
    status, printed, board = command("--shard", "1/2")
    assert status == 0, printed
    assert set(json.loads(board.read_text())["suites"]) == {"one", "two"}
    assert "two: 1 pass, 1 fail" in printed
    status, printed, board = command("--shard", "1/1")
    assert status == 0, printed
    assert "3 suites in the shard, 2 on the board already" in printed
    suites = json.loads(board.read_text())["suites"]
    assert suites["three"] == {"torch": None, "pass": 2, "fails": {}}
    assert list(suites["two"]["fails"]) == ["TwoModelTest::test_name"]
    status, printed, _ = command("--check")
    assert status == 0, printed
    del suites["two"]["fails"]["TwoModelTest::test_name"]
    board.write_text(json.dumps({"version": json.loads(board.read_text())["version"], "suites": suites}))
    status, printed, _ = command("--check", "--shard", "1/2")
    assert status == 1
    assert "two TwoModelTest::test_name: " in printed
    assert "3 suites" not in printed


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_shards_may_run_at_the_same_time(command):
    _, _, board = command("--shard", "0/1")  # runs nothing
    board.unlink(missing_ok=True)
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda part: command("--shard", part), ("1/3", "2/3", "3/3")))
    assert [status for status, _, _ in done] == [0, 0, 0], done
    assert set(json.loads(board.read_text())["suites"]) == {"one", "two", "three"}


def test_a_shard_that_is_none_is_refused(command):
    for part in ("0/3", "4/3", "half"):
        status, printed, _ = command("--shard", part)
        assert status == 2
        assert f"invalid part value: '{part}'" in printed
