"""Indexing, gathering, scattering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import derivative
from .view import zeros_of


def index_grad(grad: Tensor, self_spec: Spec, indices: Sequence[Tensor | None]) -> Any:
    """The gradient added into zeros at the positions."""
    return aten.index_put.default(zeros_of(grad, self_spec), indices, grad, True)


def index_put_self(grad: Tensor, indices: Sequence[Tensor | None], accumulate: bool, values_spec: Spec) -> Any:
    """The gradient, zero where values were written."""
    if accumulate:
        return grad
    return aten.index_put.default(grad, indices, aten.zeros([], dtype=grad.dtype, device=grad.device), False)


def index_dim_self(grad: Tensor, dim: int, index: Tensor) -> Any:
    """The gradient, zero in the written rows."""
    return aten.index_fill(grad, dim, index, 0)


def take_rows(grad: Tensor, dim: int, index: Tensor, source_spec: Spec) -> Any:
    """The written rows' gradient, in the source's shape."""
    rows = aten.index_select(grad, dim, index)
    return rows if source_spec.ndim == rows.dim() else aten.reshape(rows, list(source_spec.shape))


def put_self(grad: Tensor, index: Tensor, accumulate: bool, source_spec: Spec) -> Any:
    """The gradient, zero where elements were written."""
    if accumulate:
        return grad
    return aten.put(grad, index, aten.zeros(list(source_spec.shape), dtype=grad.dtype, device=grad.device), False)


derivative("_index_masked _index_integer", self=index_grad, node="IndexBackward0")
derivative(
    "index_put",
    self=index_put_self,
    values=lambda grad, indices: aten.index.Tensor(grad, indices),
)
derivative(
    "index_select",
    self=lambda grad, self_spec, dim, index: aten.index_add(zeros_of(grad, self_spec), dim, index, grad),
)
derivative(
    "index_add",
    self=lambda grad: grad,
    source=lambda grad, dim, index, source_spec, alpha: take_rows(grad, dim, index, source_spec) * alpha,
)
derivative("index_copy", self=index_dim_self, source=take_rows)
derivative("index_fill.int_Scalar", self=index_dim_self)
derivative(
    "index_fill.int_Tensor",
    self=index_dim_self,
    value=lambda grad, dim, index: aten.sum(aten.index_select(grad, dim, aten._unique(index, False)[0])),
    node="IndexFillBackward1",
)
derivative("take", self=lambda grad, self_spec, index: aten.put(zeros_of(grad, self_spec), index, grad, True))
derivative(
    "put",
    self=put_self,
    source=lambda grad, index, source_spec: aten.reshape(aten.take(grad, index), list(source_spec.shape)),
)
