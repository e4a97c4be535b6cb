"""Backward must do without the gradients of outputs that are not used."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_autograd.backward import grad
from mindtorch_autograd.function import Function
from mindtorch_dispatch.call import aten

from ._mismatch import UNDEFINED_COUNTS, UNDEFINED_FAILS, UNDEFINED_WARNING
from ._numerical import outputs_of


class _UndefinedGrad(Function):
    """The identity, through which no gradient comes back."""

    @staticmethod
    def forward(ctx: Any, value: Any) -> Any:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> None:
        return None


def undefined_problem(func: Callable[..., Any], inputs: Any, targets: Sequence[Any], count: int) -> str | None:
    """Return what is wrong when gradients of outputs are undefined, all of them or one: they must not make backward fail,
    nor contribute. None for nothing."""
    choices: list[Sequence[int]] = [range(count)]
    if count > 1:
        choices += [[number] for number in range(count)]
    for undefined in choices:
        outputs = [
            _UndefinedGrad.apply(one) if number in undefined else one
            for number, one in enumerate(outputs_of(func(*inputs)))
        ]
        try:
            found = grad(outputs, targets, [aten.zeros_like(one) for one in outputs], allow_unused=True)
        except RuntimeError:
            warnings.warn(UNDEFINED_WARNING, stacklevel=6)
            return UNDEFINED_FAILS
        if any(one is not None and not bool((one.to_dense() == 0).all()) for one in found):
            warnings.warn(UNDEFINED_WARNING, stacklevel=6)
            return UNDEFINED_COUNTS
    return None
