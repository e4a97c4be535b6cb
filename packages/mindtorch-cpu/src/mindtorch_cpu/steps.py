"""Steps that kernels of several families take on plain arrays; native kernels stand before them as before whole kernels."""

from __future__ import annotations

from collections.abc import Callable

steps: dict[str, Callable[..., None]] = {}
"""`step(out, *values)` by name: each fills `out`."""
