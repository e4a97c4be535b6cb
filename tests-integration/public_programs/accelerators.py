"""Processors in the place of accelerators, on both sides: programs on several ranks name a device each, `cuda` or torch's.

Devices that a program names become the processor, `nccl` becomes gloo, and torch says that it has as many accelerators as
it is told. The program itself is run as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed

_DEVICE = re.compile(r"cuda(:\d+)?")


def _here(value: Any) -> Any:
    """Return the processor for a device that is not here, anything else as it is."""
    if isinstance(value, int) and not isinstance(value, bool):
        return "cpu"
    named = isinstance(value, str) and _DEVICE.fullmatch(value)
    return "cpu" if named or (isinstance(value, torch.device) and value.type == "cuda") else value


def _moved(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method `to` for which every accelerator is the processor."""

    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self, *map(_here, args), **{name: _here(value) for name, value in kwargs.items()})

    return to


def _begun(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return `init_process_group` with gloo where NCCL is asked for, and bound to no device."""

    def init_process_group(backend: str | None = None, *args: Any, device_id: Any = None, **kwargs: Any) -> Any:
        return method("gloo" if backend in (None, "nccl") else backend, *args, **kwargs)

    return init_process_group


def _loaded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return `torch.load`, which puts nothing on a device that is not here."""

    def load(file: Any, map_location: Any = None, **kwargs: Any) -> Any:
        return method(file, map_location=_here(map_location), **kwargs)

    return load


def _wrapped(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the constructor of DistributedDataParallel, which takes no device's number for the processor."""

    def made(self: Any, *args: Any, device_ids: Any = None, **kwargs: Any) -> None:
        method(self, *args, **kwargs)

    return made


def stand_in(count: int) -> None:
    """Let the processor be `count` accelerators from now on."""
    processor = torch.device("cpu")
    own = {
        "is_available": lambda: True,
        "device_count": lambda: count,
        "current_accelerator": lambda check_available=False: processor,
        "set_device_index": lambda device: None,
        "device_index": lambda device: None,
    }
    for name, function in own.items():
        setattr(torch.accelerator, name, function)
    torch.cuda.set_device = lambda device: None  # type: ignore[assignment]
    torch.Tensor.to = _moved(torch.Tensor.to)  # type: ignore[method-assign, assignment]
    torch.Tensor.pin_memory = lambda self, device=None: self  # type: ignore[method-assign, assignment]
    torch.nn.Module.to = _moved(torch.nn.Module.to)  # type: ignore[method-assign, assignment]
    torch.load = _loaded(torch.load)  # type: ignore[assignment]
    parallel = torch.nn.parallel.DistributedDataParallel
    parallel.__init__ = _wrapped(parallel.__init__)  # type: ignore[method-assign]
    torch.distributed.init_process_group = _begun(torch.distributed.init_process_group)
