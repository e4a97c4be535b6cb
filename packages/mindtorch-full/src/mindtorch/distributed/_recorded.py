"""Collectives of a function that is compiled: a graph has functional ones, and copies of what they return."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch_autograd.function import recorder
from mindtorch_storage.lazy_import import LazyModule

_functional = LazyModule("mindtorch.distributed._functional_collectives", "it is made of collectives")
_breaks = LazyModule("mindtorch._dynamo._breaks", "only recordings break")


def recorded(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Have what a collective does recorded, and return True; end the graph before one that a graph cannot hold."""
    instead = _functional.IN_PLACE.get(function.__name__)
    if instead is None:
        return False
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    if given.get("async_op"):
        recorder.apply.__self__.cut(_asynchronous(function, given))
        return False
    instead(**given)
    return True


def _asynchronous(function: Callable[..., Any], given: dict[str, Any]) -> str:
    shown = ", ".join(f"{name!r}: {_described(value)}" for name, value in given.items())
    return str(
        _breaks.told(
            "async_op=True for distributed collectives",
            f"`torch.compile` doesn't support `async_op=True for {function}",
            [
                "It may be possible to write Dynamo tracing rules for this code. Please report an issue to PyTorch if you "
                "encounter this graph break often and it is causing performance issues."
            ],
            f"{function}, args=[], kwargs={{{shown}}}",
            "0172",
        )
    )


def _described(value: object) -> str:
    if isinstance(value, mindtorch.Tensor):
        return "LazyVariableTracker(unrealized: <class 'torch.Tensor'>)"
    return f"ConstantVariable({type(value).__name__}: {value!r})"
