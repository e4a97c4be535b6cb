"""The question libraries ask before they compile a function."""

import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mindtorch as torch
from mindtorch._dynamo import config
from mindtorch._naming import adopt

__all__ = ["LazyString", "disable_cache_limit", "is_compile_supported", "warn_once"]


class LazyString:
    """A text that is made when it is written: by a function and its arguments."""

    def __init__(self, func: Callable[..., str], *args: Any, **kwargs: Any) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs

    def __str__(self) -> str:
        return self.func(*self.args, **self.kwargs)


def is_compile_supported(device_type: Any) -> bool:
    """Return whether functions can be compiled for a device: False, nothing is compiled."""
    return False


counters: defaultdict[str, Counter[str]] = defaultdict(Counter)
"""How often a tracer met what; nothing is counted, as nothing is traced."""

_warned: set[str] = set()


def warn_once(msg: str, stacklevel: int = 1) -> None:
    """Warn at the line of the call, once for each text in a process."""
    if msg not in _warned:
        _warned.add(msg)
        warnings.warn(msg, stacklevel=stacklevel + 1)


@contextmanager
def disable_cache_limit() -> Iterator[None]:
    """Within the block a function may be compiled any number of times."""
    before = config.recompile_limit, config.accumulated_recompile_limit
    config.recompile_limit = config.accumulated_recompile_limit = sys.maxsize
    try:
        yield
    finally:
        config.recompile_limit, config.accumulated_recompile_limit = before


adopt(globals())


def clone_input(x: Any, *, dtype: Any = None) -> Any:
    """Return a leaf with the values, the strides and the gradient of a tensor, and memory of its own.

    >>> from torch._dynamo.utils import clone_input
    >>> clone_input(torch.ones(2, 3).t()).stride()
    (1, 3)
    """
    with torch.no_grad():
        steps = zip(x.shape, x.stride(), strict=True)
        span = 1 + sum((extent - 1) * step for extent, step in steps) if x.numel() else 0
        memory = torch.empty_like(x, dtype=dtype or x.dtype).new_empty(span)
        memory.copy_(x.detach().as_strided((span,), (1,)))
        made = memory.as_strided(x.shape, x.stride())
        if x.grad is not None:
            made.grad = clone_input(x.grad, dtype=dtype)
    return made.requires_grad_(x.requires_grad)
