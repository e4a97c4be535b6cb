"""Sorting."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import derivative


def put_back(grad: Tensor, self_spec: Spec, dim: int, result1: Tensor) -> Any:
    """The gradient at the positions the values came from."""
    if self_spec.ndim == 0:
        return grad
    return aten.scatter(aten.new_zeros(grad, list(self_spec.shape)), dim, result1, grad)


derivative("sort", self=put_back)
derivative("sort.stable", self=put_back, node="SortBackward1")
derivative("topk", self=put_back)
