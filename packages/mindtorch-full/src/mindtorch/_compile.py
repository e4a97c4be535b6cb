"""`torch._compile`: the mark by which a function is left out of traces."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt

__all__: list[str] = []


def _disable_dynamo(fn: Callable[..., Any] | None = None, recursive: bool = True) -> Any:
    """Return ``fn`` unchanged, or without it a decorator that does so: nothing is traced."""
    return fn if fn is not None else functools.partial(_disable_dynamo, recursive=recursive)


adopt(globals())
