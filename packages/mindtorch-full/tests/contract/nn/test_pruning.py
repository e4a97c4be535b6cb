"""Pruning leaves the same modules as torch's."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch as mt  # noqa: E402 (after the check that torch is there)

from .pruning_scenarios import SCENARIOS  # noqa: E402


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name):
    scenario = SCENARIOS[name]
    for step, (ours, theirs) in enumerate(zip(scenario(mt), scenario(torch), strict=True)):
        assert ours == theirs, f"step {step}"
