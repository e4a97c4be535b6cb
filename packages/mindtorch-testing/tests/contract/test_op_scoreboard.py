"""The ratchet: whatever the scoreboard says passes against torch, passes."""

import pytest

pytest.importorskip("torch", reason="oracle")

from mindtorch_testing.sweep import board
from mindtorch_testing.sweep.driver import sweep
from mindtorch_testing.sweep.entry import Limits

QUICK = Limits(samples=2, form_samples=2, seconds=60.0)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_entry_got_worse():
    entries = board.load_board()["entries"]
    passing = [name for name, fields in entries.items() if "pass" in fields.values()]
    if not passing:
        pytest.skip("the scoreboard is empty")
    lost = board.regressions(entries, board.statuses(sweep("mindtorch", QUICK, passing)), fewer_samples=True)
    assert not lost, "\n".join(lost)
