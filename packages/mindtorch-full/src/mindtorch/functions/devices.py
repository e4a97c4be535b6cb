"""Functions of `torch` about devices and builds."""

from __future__ import annotations

import importlib
import importlib.util
import math
import types
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.lazy_import import load as _load

from .._naming import adopt
from .._overridable import as_given, make_overridable
from ..tensor.tensor import Tensor

_accelerator = LazyModule("mindtorch.accelerator", "it stands on this module")

has_lapack = has_mkl = has_openmp = has_spectral = True
"""What builds of torch may lack; what it stands for is here, whatever computes it."""


def _running_with_deploy() -> bool:
    """Return whether several interpreters share this library: never."""
    return False


def get_device_module(device: Any = None) -> types.ModuleType:
    """Return the module of a device's type, `torch.cuda`; of the current accelerator or else the CPU without one.

    Raises:
        RuntimeError: no device, or one that no module is for.

    >>> torch.get_device_module("cpu").is_available()
    True
    """
    if isinstance(device, Device):
        name = device.type
    elif isinstance(device, str):
        name = Device(device).type
    elif device is None:
        found = _accelerator.current_accelerator()
        name = found.type if found is not None else "cpu"
    else:
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    if importlib.util.find_spec(f"mindtorch.{name}") is None:
        raise RuntimeError(f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'.")
    return _load(f"mindtorch.{name}")


def get_device(input: Tensor) -> int:
    """Return the index of a tensor's device, -1 for the CPU.

    >>> torch.get_device(torch.ones(2))
    -1
    """
    return input.get_device()


def detach_(input: Tensor) -> Tensor:
    """Take a tensor out of the graph, in place, and return it.

    >>> torch.ones(2, requires_grad=True).mul(2).detach_().requires_grad
    False
    """
    return input.detach_()


def _sym_sqrt(a: Any) -> Any:
    """Return the square root of a number.

    >>> torch.sym_sqrt(4)
    2.0
    """
    return a.__sym_sqrt__() if hasattr(a, "__sym_sqrt__") else math.sqrt(a)


make_overridable(globals(), ("get_device", "_sym_sqrt"), as_given)
sym_sqrt = _sym_sqrt  # the name that overrides see has the line

for _function in (get_device_module, get_device, detach_, sym_sqrt):
    _function.__module__ = "torch"


adopt(globals(), "torch")
