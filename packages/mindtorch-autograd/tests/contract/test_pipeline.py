"""Every scenario of the graph, run inside of a pipeline, has torch's outcome."""

import warnings
from typing import Any

import pytest

import mindtorch as mt

from . import (
    test_backward,
    test_checkpoint,
    test_engine,
    test_func,
    test_function,
    test_functional,
    test_graph,
    test_hooks,
    test_modes,
    test_saved,
    test_versions,
)
from .sides import assert_same

SUITES = (
    test_backward,
    test_checkpoint,
    test_engine,
    test_func,
    test_function,
    test_functional,
    test_graph,
    test_hooks,
    test_modes,
    test_saved,
    test_versions,
)

LIFETIMES = {"freed_after_backward", "freed_without_backward", "no_cycle_through_function"}
"""Scenarios that look at when tensors are freed: a recorded call keeps its tensors until it has run."""


def _param(suite: Any, param: Any) -> Any:
    marks = [pytest.mark.xfail(strict=True, reason="recorded calls keep tensors")] if param.id in LIFETIMES else []
    return pytest.param(param.values[0], id=f"{suite.__name__.rpartition('.')[2]}-{param.id}", marks=marks)


SCENARIOS = [_param(suite, param) for suite in SUITES for param in suite.scenarios]


def recorded(scenario: Any, fuse: bool) -> Any:
    """Return the scenario that runs inside of a pipeline on our side."""

    def run(T: Any) -> Any:
        if T is not mt:
            return scenario(T)
        with mt.pipeline(fuse=fuse):
            return scenario(T)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("fuse", [False, True], ids=["plain", "fuse"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_same_inside_of_a_pipeline(scenario: Any, fuse: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(recorded(scenario, fuse))
