"""How optimizers read their settings: numbers, one-element tensors, step counters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Literal

import mindtorch as torch
from mindtorch.utils._foreach_utils import _get_fused_kernels_supported_devices
from mindtorch_dispatch.state import state

#: Device types whose kernels can run a step without the host knowing the step count.
CAPTURABLE_DEVICES = ("cuda", "xpu", "hpu", "privateuseone", "npu")

_LISTS = ("params and state_steps", "params and state_steps")


def use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """Run a step with gradients off, unless the optimizer itself is differentiated through."""

    @functools.wraps(func)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = state.mode.grad
        state.mode = state.mode.replace(grad=bool(self.defaults.get("differentiable", False)))
        try:
            return func(self, *args, **kwargs)
        finally:
            state.mode = state.mode.replace(grad=before)

    return wrapped


def is_tensor(value: Any) -> bool:
    """Whether a setting was given as a tensor."""
    return isinstance(value, torch.Tensor)


def get_value(value: Any) -> Any:
    """The Python number of a counter."""
    return value.item() if isinstance(value, torch.Tensor) else value


def to_scalar(value: Any) -> Any:
    """A one-element tensor as a 0-d one; anything else unchanged."""
    if isinstance(value, torch.Tensor) and value.dim() != 0:
        return value.squeeze()
    return value


def scalar_dtype(is_fused: bool | None = None) -> Any:
    """The dtype of step counters: float64 only where that is the default dtype and the step is not fused."""
    if is_fused:
        return torch.float32
    return torch.float64 if torch.get_default_dtype() == torch.float64 else torch.float32


def check_lr(lr: Any) -> None:
    """Refuse a learning-rate tensor of more than one element."""
    if isinstance(lr, torch.Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_not_negative(label: str, *values: Any) -> None:
    """Refuse negative settings; ``label`` is the text before the value."""
    for value in values:
        if not 0.0 <= value:
            raise ValueError(f"Invalid {label}: {value}")


def check_betas(betas: Any) -> None:
    """Refuse decay rates outside ``[0, 1)``."""
    for index in (0, 1):
        if not 0.0 <= betas[index] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {betas[index]}")


def check_adam_options(lr: Any, betas: Any, eps: Any, weight_decay: Any) -> None:
    """Refuse what Adam and its relatives do not take."""
    check_lr(lr)
    check_not_negative("learning rate", lr)
    check_not_negative("epsilon value", eps)
    check_betas(betas)
    check_not_negative("weight_decay value", weight_decay)


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Refuse combinations of execution modes that contradict each other."""
    if not fused:
        return
    if differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_fused_param(param: Any) -> None:
    """Refuse a parameter that no fused step takes."""
    devices = _get_fused_kernels_supported_devices()
    if param.device.type not in (*devices, "npu") or not param.is_floating_point():
        raise RuntimeError(
            "`fused=True` requires all the params to be floating point Tensors of supported devices: "
            f"{devices} but {param.dtype} and {param.device.type}"
        )


def check_capturable(
    group: dict[str, Any],
    param: Any,
    *,
    names: tuple[str, str] = _LISTS,
    xla: Literal["single", "always", "never"] = "single",
) -> None:
    """A capturable step needs a device that holds its own counters.

    ``names`` are what torch's text lists for the single-tensor and for the foreach path, ``xla`` says for which of them
    it lists that device.
    """
    if not group.get("capturable") or group.get("fused") or param.device.type in CAPTURABLE_DEVICES:
        return
    foreach = bool(group.get("foreach"))
    devices = ["cuda", "xpu", "hpu", "privateuseone"]
    if xla == "always" or (xla == "single" and not foreach):
        devices.append("xla")
    raise AssertionError(f"If capturable=True, {names[foreach]} must be on supported devices: {devices}.")


def on_device_counters(group: dict[str, Any]) -> bool:
    """Whether counters stay tensors during the step (captured, or differentiated through)."""
    return bool(group.get("capturable") or group.get("differentiable"))


def ascent(grad: Any, group: dict[str, Any]) -> Any:
    """The gradient to descend along: its negative where the group maximizes."""
    return -grad if group["maximize"] else grad


def real_views(*tensors: Any) -> Iterable[Any]:
    """Each tensor as real numbers (complex ones as pairs), so an update is elementwise on the parts."""
    return tuple(torch.view_as_real(t) if t is not None and t.dtype.is_complex else t for t in tensors)
