"""The ratchet: whatever the scoreboards say passes against torch, passes."""

import os

import pytest

pytest.importorskip("torch", reason="oracle")

from mindtorch_testing.sweep import board
from mindtorch_testing.sweep.driver import sweep
from mindtorch_testing.sweep.runner import Limits
from mindtorch_testing.sweep.suites import SUITES

QUICK = Limits(samples=2, form_samples=2, seconds=60.0)
PARTS = 3


def in_rotation(names):
    """Return what this run takes of the entries: all, or in CI, whose time is bounded, another third for each commit."""
    turn = os.environ.get("MINDTORCH_SUITE_ROTATION")
    return sorted(names)[int(turn) % PARTS :: PARTS] if turn else names


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SUITES)
def test_no_entry_got_worse(name):
    suite = SUITES[name]
    entries = board.load_board(suite.board)["entries"]
    passing = [name for name, fields in entries.items() if "pass" in fields.values()]
    assert passing, "the scoreboard is empty"
    found = board.statuses(sweep("mindtorch", QUICK, in_rotation(passing), suite=suite))
    lost = board.regressions(entries, found, fewer_samples=True)
    assert not lost, "\n".join(lost)


FEW = ("add", "cat", "index_select", "mm", "nn.functional.layer_norm", "softmax", "sort", "sum", "view")
"""One entry of each large family, for the quick loop."""


OVERLAPS = ("addmm", "add", "cumsum", "gather", "index_add", "outer", "stack", "topk")
"""Entries with different rules for what `out=` may share memory with."""


@pytest.mark.parametrize(("suite", "few"), [("ops", FEW), ("ops-overlap", OVERLAPS)])
def test_a_few_entries_hold(suite, few):
    entries = board.load_board(SUITES[suite].board)["entries"]
    found = board.statuses(sweep("mindtorch", QUICK, few, suite=SUITES[suite]))
    assert set(few) <= set(found)
    assert board.regressions(entries, found, fewer_samples=True) == []


@pytest.mark.parametrize(("name", "entries"), [("modules", 114), ("optimizers", 15)])
def test_every_entry_of_torch_has_its_row(name, entries):
    suite = SUITES[name]
    rows = board.load_board(suite.board)["entries"]
    assert set(rows) == set(suite.entries())
    assert len(rows) == entries
