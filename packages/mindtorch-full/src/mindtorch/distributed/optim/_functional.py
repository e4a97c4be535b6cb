"""Optimizers that are given gradients: an optimizer of `torch.optim`, whose parameters' `.grad` it leaves alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mindtorch
from mindtorch import optim
from mindtorch._naming import adopt

Tensor = mindtorch.Tensor


class FunctionalOptimizer:
    """Steps an optimizer with gradients that are given. `state` and `defaults` are that optimizer's."""

    optimizer_class: type

    def __init__(self, params: list[Tensor], *args: Any, _allow_empty_param_list: bool = False, **kwargs: Any) -> None:
        if not params and not _allow_empty_param_list:
            raise ValueError("optimizer got an empty parameter list")
        self._optimizer = self.optimizer_class([{"params": list(params)}], *args, **kwargs)
        self.param_group = self._optimizer.param_groups[0]
        self.defaults = self._optimizer.defaults
        self.state = self._optimizer.state

    def step(self, gradients: list[Tensor | None]) -> None:
        """Update the parameters, those that there is a gradient for."""
        params = self.param_group["params"]
        if len(params) != len(gradients):
            raise ValueError(
                "the gradients passed in does not equal to the size of the parameters!"
                f"Params length: {len(params)}. Gradients length: {len(gradients)}"
            )
        self._step(params, gradients)

    def _step(self, params: list[Tensor], gradients: list[Tensor | None]) -> None:
        with _gradients(params, gradients):
            self._optimizer.step()


class OfOneParameter(FunctionalOptimizer):
    """Also updates parameters one by one, which need not have been named before."""

    def step_param(self, param: Tensor, grad: Tensor | None) -> None:
        """Update one parameter."""
        group = self.param_group
        before, group["params"] = group["params"], [param]
        try:
            self._step([param], [grad])
        finally:
            group["params"] = before


@contextmanager
def _gradients(params: list[Tensor], gradients: list[Tensor | None]) -> Iterator[None]:
    before = [param.grad for param in params]
    try:
        for param, gradient in zip(params, gradients, strict=True):
            param.grad = gradient
        yield
    finally:
        for param, gradient in zip(params, before, strict=True):
            param.grad = gradient


def _functional(cls: type, lr: float, base: type = FunctionalOptimizer) -> Any:
    """Return the functional form of an optimizer, whose arguments are that one's, and `lr` where it is another."""
    signature = inspect.signature(cls)

    def __init__(
        self: Any, params: list[Tensor], *args: Any, _allow_empty_param_list: bool = False, **kwargs: Any
    ) -> None:
        given = signature.bind(params, *args, **kwargs).arguments
        given.pop("params")
        base.__init__(self, params, _allow_empty_param_list=_allow_empty_param_list, **{"lr": lr, **given})  # type: ignore[misc]

    name = f"_Functional{cls.__name__}"
    members: dict[str, Any] = {"optimizer_class": cls, "__init__": __init__, "__module__": __name__}
    return type(name, (base,), {**members, "__doc__": f"`torch.optim.{cls.__name__}` of gradients that are given."})


_FunctionalAdadelta = _functional(optim.Adadelta, 1.0)
_FunctionalAdagrad = _functional(optim.Adagrad, 1e-2)
_FunctionalAdam = _functional(optim.Adam, 1e-3, OfOneParameter)
_FunctionalAdamW = _functional(optim.AdamW, 1e-3, OfOneParameter)
_FunctionalAdamax = _functional(optim.Adamax, 1e-3)
_FunctionalRMSprop = _functional(optim.RMSprop, 1e-2)
_FunctionalRprop = _functional(optim.Rprop, 1e-2)
_FunctionalSGD = _functional(optim.SGD, 1e-2, OfOneParameter)

functional_optim_map: dict[Any, Any] = {
    made.optimizer_class: made
    for made in (
        *(_FunctionalAdadelta, _FunctionalAdagrad, _FunctionalAdam, _FunctionalAdamW, _FunctionalAdamax),
        *(_FunctionalRMSprop, _FunctionalRprop, _FunctionalSGD),
    )
}
"""Optimizer to its functional form."""


def register_functional_optim(key: Any, optim: Any) -> None:
    """Add the functional form of an optimizer of one's own; one that is there stays."""
    functional_optim_map.setdefault(key, optim)


def as_functional_optim(optim_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the functional form of an optimizer, without parameters."""
    if optim_cls not in functional_optim_map:
        raise ValueError(f"Optimizer {optim_cls} does not have a functional counterpart!")
    return _create_functional_optim(functional_optim_map[optim_cls], *args, **kwargs)


def _create_functional_optim(functional_optim_cls: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return functional_optim_cls([], *args, **kwargs, _allow_empty_param_list=True)


adopt(globals())
