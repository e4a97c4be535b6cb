"""PyTorch's own tests hold what the board says, in an environment without torch."""

import argparse
import fnmatch
import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

SUITE = Path(__file__).parents[1] / "pytorch_suite"
BOARD = json.loads((SUITE / "board.json").read_text())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_test_of_pytorch_got_worse():
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("the suite runs where torch is not installed")
    folders = [os.environ.get(name) for name in ("PYTORCH_TESTS", "PYTORCH_INFRASTRUCTURE")]
    if not all(folders):
        pytest.skip("PyTorch's tests are not here: PYTORCH_TESTS and PYTORCH_INFRASTRUCTURE name no folders")
    number = os.environ.get("MINDTORCH_SUITE_ROTATION") or "0"
    done = subprocess.run(
        [sys.executable, str(SUITE), "check", "--rotation", number, "--seconds", "240"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_board_has_a_reason_for_each_test_that_fails():
    entries = [entry for held in BOARD.values() for entry in held.values()]
    assert len(entries) >= 4776
    assert all(entry == "pass" or (entry.startswith("fail: ") and "no reason" not in entry) for entry in entries)


def test_the_status_page_is_that_of_the_board():
    done = subprocess.run([sys.executable, str(SUITE), "docs", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_board_never_takes_a_worse_result(monkeypatch):
    monkeypatch.syspath_prepend(str(SUITE))
    board = importlib.import_module("board")
    held = {"A::test_a": "pass", "A::test_b": "fail: x"}
    worse = {"A::test_a": {"status": "fail", "reason": "AssertionError: at 0x7f3a in /tmp/x.py"}}
    assert board.lost(held, worse) == ["A::test_a: was pass, now fail: AssertionError: at 0x… in PATH"]
    assert board.lost(held, {"A::test_a": {"status": "pass", "reason": ""}}) == []
    assert board.merge(held, {"A::test_b": {"status": "pass", "reason": ""}}) == {
        "A::test_a": "fail: not collected",
        "A::test_b": "pass",
    }


def test_a_sample_is_the_same_in_whatever_order_tests_are_collected(monkeypatch):
    monkeypatch.syspath_prepend(str(SUITE))
    recorder = importlib.import_module("recorder")
    names = [f"A::test_{number}" for number in range(100)]
    drawn = recorder.sample(names, 10)
    assert len(drawn) == 10
    assert drawn == recorder.sample(names[::-1], 10) < recorder.sample(names, 20)
    assert max(int(name[8:]) for name in drawn) > 20


def _named(pattern: str, name: str) -> bool:
    return name.startswith(pattern) if pattern.endswith("/") else fnmatch.fnmatchcase(name, pattern)


def test_every_file_of_tests_is_on_the_board_or_left_out_with_a_reason():
    names = (SUITE / "files.txt").read_text().split()
    left_out = tomllib.loads((SUITE / "left_out.toml").read_text())
    patterns = [pattern for row in left_out for pattern in row.split(", ")]
    # `test_package.py` is the tests of its folder.
    on_the_board = {name for name in names if name in BOARD or name.startswith("package/")}
    silent = [n for n in names if n not in on_the_board and not any(_named(pattern, n) for pattern in patterns)]
    assert silent == []
    assert all(reason for reason in left_out.values())
    empty = [pattern for pattern in patterns if not any(_named(pattern, name) for name in names)]
    assert empty == [], "a row names nothing"


def test_shards_of_a_file_on_the_board_are_parts_of_its_tests_and_together_all(monkeypatch):
    monkeypatch.syspath_prepend(str(SUITE))
    specification = importlib.util.spec_from_file_location("pytorch_suite_commands", SUITE / "__main__.py")
    commands = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(commands)
    held = {"test_a.py": {f"A::test_{number}": "pass" if number % 2 else "fail: x" for number in range(10)}}

    def chosen(shard, failing=False, name="test_a.py"):
        return commands._chosen(argparse.Namespace(shard=shard, failing=failing), name, held)

    parts = [chosen(f"{number}/3") for number in (1, 2, 3)]
    assert set().union(*parts) == set(held["test_a.py"])
    assert sum(map(len, parts)) == 10
    assert chosen("1/1") is None
    assert chosen("1/1", failing=True) == {f"A::test_{number}" for number in range(0, 10, 2)}
    assert chosen("2/3", name="test_b.py") is None
