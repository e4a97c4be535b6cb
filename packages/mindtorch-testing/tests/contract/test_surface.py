"""What programs see of torch's public names without a call is what they see of ours, but for the rows of the board."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="oracle")

from mindtorch_testing.surface import describe, instances
from mindtorch_testing.surface.board import BOARD, accepted, reason_of


@pytest.mark.slow
def test_nothing_differs_that_the_board_does_not_have():
    """`python -m mindtorch_testing.surface --write` shortens the board; nothing makes it longer."""
    done = subprocess.run([sys.executable, "-m", "mindtorch_testing.surface"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split(" names and ")[0].split()[-1]) > 12000


def test_a_few_instances():
    expressions = ["nn.Linear(2, 3)", "nn.TripletMarginWithDistanceLoss()", "Normal(0., 1.)", "torch.no_grad()"]
    assert instances.differences(expressions) == {}


def test_differences_are_found():
    expression = "nn.Linear(2, 3) if torch.__name__ == 'torch' else nn.Linear(2, 4, bias=False)"
    found = instances.differences([expression])
    aspects = {name.removeprefix(f"{expression}: ") for name in found}
    assert {"text", "str", "attribute out_features", "state_dict", "extra_repr"} <= aspects


def test_signatures_tell_names_kinds_and_defaults():
    def function(first, /, second: int = 1, *rest, third=(1, "a"), **others): ...

    def keywords(*, only=None): ...

    assert describe.signature(function) == "(first, /, second=1, *rest, third=tuple(1, 'a'), **others)"
    assert describe.signature(keywords) == "(*, only=None)"
    assert describe.signature(dict.pop) is None


def test_rows_of_the_board_are_not_accepted_ones():
    rows = accepted()
    assert [name for name in json.loads(BOARD.read_text()) if reason_of(name, rows)] == []
    assert reason_of("torch.DispatchKey.XLA: there", rows).startswith("keys of backends")
