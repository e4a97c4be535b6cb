"""`torch._prims_common.wrappers`: what wraps references. Here a reference is the operation itself, so nothing does."""

from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt

__all__: list[str] = []


def _maybe_remove_out_wrapper(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function inside of a wrapper that takes results: ``fn``, which is not wrapped."""
    return fn


adopt(globals())
