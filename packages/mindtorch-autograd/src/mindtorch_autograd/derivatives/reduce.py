"""Reductions."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.meta.checks import wrap_dims

from ..derivative import derivative


def restored(grad: Any, self_spec: Any, dim: Any, keepdim: bool) -> Any:
    """Return `grad` with the reduced dims back as extents of 1."""
    if keepdim or self_spec.ndim == 0:
        return grad
    for one in sorted(wrap_dims(dim, self_spec.ndim)):
        grad = aten.unsqueeze(grad, one)
    return grad


def spread(grad: Any, self_spec: Any, dim: Any, keepdim: bool) -> Any:
    """Return `grad` expanded over the reduced dims."""
    return aten.expand(restored(grad, self_spec, dim, keepdim), list(self_spec.shape))


derivative("sum", self=lambda grad, self_spec: aten.expand(grad, list(self_spec.shape)))
derivative("sum.dim_IntList", self=spread, node="SumBackward1")
