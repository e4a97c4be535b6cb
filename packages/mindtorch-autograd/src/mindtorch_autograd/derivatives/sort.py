"""Sorting."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten

from ..derivative import derivative


def put_back(grad: Any, self_spec: Any, dim: int, result1: Any) -> Any:
    """The gradient at the positions the values came from."""
    if self_spec.ndim == 0:
        return grad
    return aten.scatter(aten.zeros(list(self_spec.shape), dtype=grad.dtype, device=grad.device), dim, result1, grad)


derivative("sort", self=put_back)
derivative("sort.stable", self=put_back, node="SortBackward1")
derivative("topk", self=put_back)
