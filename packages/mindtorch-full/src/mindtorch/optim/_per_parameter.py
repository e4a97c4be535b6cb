"""The loop most algorithms share: one update per parameter that has a gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

import mindtorch as torch
from mindtorch_dispatch.execute.chain import Chain
from mindtorch_dispatch.extend import devices

from ._values import check_fused_param, get_value, is_tensor, scalar_dtype, use_grad_for_differentiable
from .optimizer import Optimizer

Due: TypeAlias = Sequence[tuple[Any, Any, dict[str, Any]]]
"""Parameters with their gradients and states."""

_MOST_EXACT = 2.0**24
"""Where a counter of 32 bits stops counting."""

_COUNT = Chain("step", ("add_number", "step", "step"))


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


def entering_numbers(group: dict[str, Any]) -> tuple[float, ...]:
    """The numbers of the steps of `entering`."""
    decay = group["weight_decay"]
    if decay == 0:
        return ()
    return (1 - group["lr"] * decay if group.get("decoupled_weight_decay") else decay,)


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
