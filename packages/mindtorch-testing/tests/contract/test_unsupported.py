"""What is missing is listed with a reason; what is listed is missing."""

import tomllib
from importlib import resources

import pytest

pytest.importorskip("torch", reason="oracle")

from mindtorch_testing.sweep.board import load_board
from mindtorch_testing.sweep.suites import SUITES

LISTED = tomllib.loads(resources.files("mindtorch").joinpath("data/unsupported.toml").read_text())


def test_entries_of_op_db_without_values_are_listed():
    missing = {name for name, fields in load_board()["entries"].items() if fields.get("forward", "pass") != "pass"}
    assert missing == set(LISTED["op_db"])


def test_optimizers_without_steps_are_listed():
    board = load_board(SUITES["optimizers"].board)["entries"]
    assert {name for name, fields in board.items() if fields["steps"] != "pass"} == set(LISTED["optim_db"])


def test_every_row_has_a_reason():
    assert all(len(reason) > 15 for table in LISTED.values() for reason in table.values())
