"""An optimizer lent other parameters and another state for a while."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .optimizer import Optimizer

_NAME = "swap_in_optimizer_params_and_state"


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Any], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Let the optimizer see these parameters, state and options; what it had comes back at the end.

    The tensors of ``swapin_optim_state`` are used as they are, so steps change them in place.

    Raises:
        RuntimeError: the optimizer has no state yet, or parameters or state do not match its groups.
    """
    if not optimizer.state:
        raise RuntimeError(f"{_NAME} requires initialized optimizer state.")
    groups = optimizer.param_groups
    given = list(swapin_parameters.values())
    if len(given) < sum(len(group["params"]) for group in groups):
        raise RuntimeError(f"{_NAME} requires the explicit parameter state to match optimizer.param_groups ordering.")
    options, states = _checked(groups, swapin_optim_state)
    kept_groups, kept_state = [dict(group) for group in groups], optimizer.state
    fresh: defaultdict[Any, Any] = defaultdict(dict)
    remaining = iter(given)
    try:
        for group, chosen in zip(groups, options, strict=True):
            params = [next(remaining) for _ in group["params"]]
            for param, packed in zip(params, chosen["params"], strict=True):
                if packed in states:
                    fresh[param] = dict(states[packed])
            group.update(chosen, params=params)
        optimizer.state = fresh
        yield
    finally:
        optimizer.state = kept_state
        for group, kept in zip(groups, kept_groups, strict=True):
            group.clear()
            group.update(kept)


def _checked(groups: list[dict[str, Any]], given: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[Any, Any]]:
    """Return the given groups and states; RuntimeError where they do not match the optimizer's groups."""
    states = given.get("state")
    if not isinstance(states, dict):
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['state'] to be a dict mapping packed parameter ids to per-param state "
            f"dicts, got {type(states).__name__}."
        )
    options = given["param_groups"]
    if len(options) != len(groups):
        raise RuntimeError("swapin_optim_state has a different number of parameter groups than the live optimizer.")
    for index, (group, chosen) in enumerate(zip(groups, options, strict=True)):
        if len(group["params"]) != len(chosen["params"]):
            raise RuntimeError(
                f"swapin_optim_state param group {index} has a different number of params than the live optimizer "
                "param group."
            )
    known = {packed for chosen in options for packed in chosen["params"]}
    extra = [packed for packed in states if packed not in known]
    if extra:
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['state'] to be keyed only by packed parameter ids from "
            f"param_groups[*]['params']; got extra keys {extra}."
        )
    return options, states
