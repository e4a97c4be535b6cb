"""One layer gives, another takes, whichever is imported first."""

import pytest

from mindtorch_dispatch.interface.handover import Handover


@pytest.mark.parametrize("given_first", [True, False])
def test_in_any_order(given_first):
    handover, taken = Handover(), []
    steps = [lambda: handover.give(1), lambda: handover.take(taken.append)]
    for step in steps if given_first else reversed(steps):
        assert taken == []
        step()
    assert taken == [1]
    handover.give(2)
    assert taken == [1, 2]
