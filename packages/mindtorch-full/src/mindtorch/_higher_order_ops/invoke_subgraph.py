"""`torch._higher_order_ops.invoke_subgraph`: regions that a compiler would compile once. Outside of one they are calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def mark_compile_region(
    fn: Callable[..., Any] | None = None,
    options: object = None,
    max_reuse_entries: int = 8,
    reuse_hash_fn: object = None,
) -> Any:
    """Return a function that calls ``fn``; without ``fn``, what makes one of a function."""
    if fn is None:
        return functools.partial(
            mark_compile_region,
            options=options,
            max_reuse_entries=max_reuse_entries,
            reuse_hash_fn=reuse_hash_fn,
        )
    function = fn

    def region(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    region.__marked_compile_region_fn__ = fn  # type: ignore[attr-defined]
    return region


mark_compile_region.__module__ = "torch._higher_order_ops.invoke_subgraph"
