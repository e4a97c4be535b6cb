"""The loop most algorithms share: one update per parameter that has a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import mindtorch as torch

from ._one_pass import Due, has_passes
from ._values import (
    check_fused_param,
    get_value,
    is_tensor,
    on_device_counters,
    scalar_dtype,
    use_grad_for_differentiable,
)
from .optimizer import Optimizer


class PerParameterOptimizer(Optimizer):
    """Runs ``_update`` per parameter; ``foreach`` and ``fused`` are promises about speed and change no value here."""

    #: Options that groups restored from older checkpoints may lack, with the value they stand for.
    _older_groups: ClassVar[dict[str, Any]] = {}
    #: State entries that older checkpoints hold as plain numbers.
    _counters: ClassVar[tuple[str, ...]] = ("step",)
    _sparse_hint: ClassVar[str] = ""

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self._older_groups.items():
                group.setdefault(name, value)
            for param in group["params"]:
                entries = self.state.get(param, {})
                for name in self._counters:
                    if name in entries and not is_tensor(entries[name]):
                        entries[name] = self._counter(float(entries[name]), param, group)

    @use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; return what ``closure`` computed."""
        self._accelerator_graph_capture_health_check()
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        if self._overflowed():
            return loss
        for group in self.param_groups:
            due = []
            for param in group["params"]:
                grad = param.grad
                if grad is None:
                    continue
                self._check_gradient(param, grad, group)
                if group.get("fused"):
                    check_fused_param(param)
                due.append((param, grad, self._state_of(param, group)))
            if due:
                self._check_modes(group, due[0][0])
                if not self._update_together(due, group):
                    for param, grad, state in due:
                        self._update(param, grad, state, group)
        return loss

    def _overflowed(self) -> bool:
        """Divide the gradients by the scale that a GradScaler left here for a fused step; True where they overflowed."""
        flag, scale = getattr(self, "found_inf", None), getattr(self, "grad_scale", None)
        if is_tensor(flag) and flag.item():
            return True
        if is_tensor(scale):
            for group in self.param_groups:
                for param in group["params"]:
                    if group.get("fused") and param.grad is not None:
                        param.grad.div_(scale.to(param.grad.device))
        return False

    def _state_of(self, param: Any, group: dict[str, Any]) -> dict[str, Any]:
        """The state of a parameter, made at its first update."""
        state = self.state[param]
        if not state:
            self._create_state(param, state, group)
        return state

    def _check_gradient(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Refuse gradients the algorithm cannot use."""
        if grad.is_sparse:
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients{self._sparse_hint}")

    def _check_modes(self, group: dict[str, Any], param: Any) -> None:
        """Refuse execution modes that exclude each other; ``param`` is the first that is due."""
        if group.get("foreach") and group.get("differentiable"):
            raise AssertionError("_foreach ops don't support autograd")

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Fill the state of a parameter that is updated for the first time."""
        raise NotImplementedError

    def _update_together(self, due: Due, group: dict[str, Any]) -> bool:
        """Update parameters in one pass over all; False, with nothing done, where there is no such pass for them."""
        return False

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Update one parameter in place."""
        raise NotImplementedError

    @staticmethod
    def _counter(value: float, param: Any, group: dict[str, Any]) -> Any:
        """A step counter: on the host unless a kernel reads it."""
        if group.get("capturable") or group.get("fused"):
            dtype = scalar_dtype(is_fused=group.get("fused"))
            return torch.full((), value, dtype=dtype, device=param.device)
        return torch.tensor(value, dtype=scalar_dtype())

    @staticmethod
    def _count(state: dict[str, Any], group: dict[str, Any]) -> Any:
        """Advance the step counter; a number, or the tensor where counters stay on the device."""
        counter = state["step"]
        counter += 1
        return counter if group.get("capturable") or group.get("differentiable") else get_value(counter)


class CapturableOptimizer(PerParameterOptimizer):
    """An algorithm that has the four options about how its step runs, which older checkpoints do not know."""

    _older_groups: ClassVar[dict[str, Any]] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
    }

    def _update_together(self, due: Due, group: dict[str, Any]) -> bool:
        return not on_device_counters(group) and has_passes(due) and self._update_in_one_pass(due, group)

    def _update_in_one_pass(self, due: Due, group: dict[str, Any]) -> bool:
        """Update parameters in one pass over memory; False, with nothing done, where that cannot be."""
        return False


def step_each(
    algorithm: type[PerParameterOptimizer],
    params: list[Any],
    grads: list[Any],
    state: dict[str, list[Any]],
    group: dict[str, Any],
    *,
    check_steps: bool = True,
) -> None:
    """Make one step of ``algorithm`` on each parameter: ``state`` has a list per entry, ``group`` the options."""
    if check_steps and not all(is_tensor(step) for step in state["step"]):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
    optimizer = algorithm.__new__(algorithm)
    if params:
        optimizer._check_modes(group, params[0])
    for index, (param, grad) in enumerate(zip(params, grads, strict=True)):
        own = {name: values[index] for name, values in state.items() if values}
        optimizer._update(param, grad, own, group)


def zeros_like_param(param: Any) -> Any:
    """A state tensor of a parameter's geometry."""
    return torch.zeros_like(param, memory_format=torch.preserve_format)
