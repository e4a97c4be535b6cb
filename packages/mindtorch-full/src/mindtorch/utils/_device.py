"""`torch.utils._device`: a device for what programs make, as a mode."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.overrides import TorchFunctionMode
from mindtorch.utils._contextlib import context_decorator

__all__ = ["DeviceContext", "context_decorator", "device_decorator", "set_device"]

CURRENT_DEVICE: torch.device | None = None

_NAMES = (
    "empty empty_permuted empty_strided ones arange bartlett_window blackman_window eye full hamming_window hann_window "
    "kaiser_window linspace logspace rand randn randint randperm range sparse_coo_tensor tril_indices triu_indices zeros "
    "asarray tensor as_tensor scalar_tensor"
).split()


@functools.cache
def _device_constructors() -> frozenset[Callable[..., Any]]:
    """Return the functions that make tensors on a device of choice."""
    return frozenset(getattr(torch, name) for name in _NAMES)


class DeviceContext(TorchFunctionMode):
    """Within the block, functions that make tensors and are given no device make them on this one."""

    def __init__(self, device: Any) -> None:
        super().__init__()
        self.device = torch.device(device)

    def __enter__(self) -> DeviceContext:
        global CURRENT_DEVICE
        self.old_device, CURRENT_DEVICE = CURRENT_DEVICE, self.device
        self.device.__enter__()  # for what no mode is asked about: `torch.tensor` of numbers
        return super().__enter__()  # type: ignore[return-value]

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        global CURRENT_DEVICE
        CURRENT_DEVICE = self.old_device
        super().__exit__(exc_type, exc_val, exc_tb)
        self.device.__exit__(exc_type, exc_val, exc_tb)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _device_constructors() and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": self.device}
        return func(*args, **kwargs)


def device_decorator(device: Any, func: Any) -> Any:
    """Return `func`, a function or a class, run within a `DeviceContext`."""
    return context_decorator(lambda: torch.device(device), func)


def set_device(device: Any) -> Callable[[Any], Any]:
    """Return a decorator that gives a function a device for what it makes."""
    return functools.partial(device_decorator, torch.device(device))


adopt(globals())
