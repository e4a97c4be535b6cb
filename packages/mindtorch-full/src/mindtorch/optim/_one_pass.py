"""Steps of many parameters in one pass over memory, by the chains of their device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from mindtorch_dispatch.execute.chain import Chain
from mindtorch_dispatch.extend import devices

from ._values import get_value

Due: TypeAlias = Sequence[tuple[Any, Any, dict[str, Any]]]
"""Parameters with their gradients and states."""

_MOST_EXACT = 2.0**24
"""Where a counter of 32 bits stops counting."""

_COUNT = Chain("step", ("add_number", "step", "step"))


def has_passes(due: Due) -> bool:
    """Whether the parameters' device has passes over several tensors, and no mode wants to see the single operators."""
    return due[0][0].device.type in devices.chains and devices.plain(())


def lists_of(due: Due, *entries: str) -> tuple[list[Any], ...]:
    """The lists that a pass goes over: parameters, gradients and entries of the states."""
    states = [state for _, _, state in due]
    given = [param for param, _, _ in due], [grad for _, grad, _ in due]
    return (*given, *([state[name] for state in states] for name in entries))


def common_count(due: Due) -> float | None:
    """What all counters have counted so far; None where that is not one number, or the next one is not exact."""
    counted = {get_value(state["step"]) for _, _, state in due}
    count = counted.pop()
    return None if counted or not count < _MOST_EXACT else count


def count_all(due: Due) -> None:
    """Advance all counters."""
    counters = [state["step"] for _, _, state in due]
    if not _COUNT.run((counters,), (1.0,)):
        for counter in counters:
            counter += 1


def counted(due: Due, run: Callable[[float], bool]) -> bool:
    """Make a pass that wants to know how many steps there were, and count it; False, with nothing done, where there is
    none."""
    count = common_count(due)
    if count is None or not run(count):
        return False
    count_all(due)
    return True


def entering(maximize: bool, decays: bool, decoupled: bool = False) -> tuple[list[tuple[str, ...]], str]:
    """How a pass begins: the steps that turn `grad` into what the averages take, and the name of that.

    A decay takes a number, `entering_numbers`.
    """
    grad = "grad"
    steps: list[tuple[str, ...]] = []
    if maximize:
        steps.append(("neg", "ascent", grad))
        grad = "ascent"
    if decays and decoupled:
        steps.append(("mul_number", "param", "param"))
    elif decays:
        steps.append(("add_scaled", "decayed", grad, "param"))
        grad = "decayed"
    return steps, grad


def moments(grad: str) -> list[tuple[str, ...]]:
    """The running means of gradients and of their squares; they take the numbers 1 - beta1, beta2 and 1 - beta2."""
    return [
        ("lerp", "exp_avg", "exp_avg", grad),
        ("mul_number", "exp_avg_sq", "exp_avg_sq"),
        ("addcmul", "exp_avg_sq", "exp_avg_sq", grad, grad),
    ]


def entering_numbers(group: dict[str, Any]) -> tuple[float, ...]:
    """The numbers of the steps of `entering`."""
    decay = group["weight_decay"]
    if decay == 0:
        return ()
    return (1 - group["lr"] * decay if group.get("decoupled_weight_decay") else decay,)
