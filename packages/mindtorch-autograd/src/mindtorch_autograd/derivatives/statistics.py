"""Variance and order statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.meta.checks import wrap_dims
from mindtorch_dispatch.typing import Scalar, Tensor

from ..derivative import derivative
from .extremum import selected
from .reduce import evenly, reduced_count, restored, spread


def var_grad(grad: Tensor | None, self: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    """`2 / (n - correction) * (x - mean)`."""
    correction = 1 if correction is None else correction
    count = reduced_count(self, dim)
    if self.ndim == 0 or count <= correction:
        return aten.mul(restored(grad, self, dim, keepdim), math.nan) * aten.ones_like(self)
    scale = aten.mul(restored(grad, self, dim, keepdim), 2.0 / (count - correction))
    return scale * aten.sub(self, aten.mean(self, list(wrap_dims(dim, self.ndim)), True))


def std_grad(
    grad: Tensor, self: Tensor, dim: Sequence[int] | None, correction: Scalar | None, keepdim: bool, result: Tensor
) -> Any:
    """The gradient of the variance over twice the deviation; zero where that is zero."""
    slope = aten.masked_fill(aten.div(grad, aten.mul(result, 2)), aten.eq(result, 0), 0)
    return var_grad(slope, self, dim, correction, keepdim)


def mean_grad(grad: Tensor, self: Tensor, dim: object, keepdim: bool) -> Any:
    """The gradient of the mean."""
    return aten.div(spread(grad, self, dim, keepdim), reduced_count(self, dim))


def _sum(first: Tensor | None, second: Tensor | None) -> Any:
    return second if first is None else first if second is None else aten.add(first, second)


def var_mean(
    grads: Sequence[Tensor], self: Tensor, dim: Sequence[int] | None, correction: Scalar | None, keepdim: bool
) -> Any:
    """Of variance and mean."""
    return _sum(
        None if grads[0] is None else var_grad(grads[0], self, dim, correction, keepdim),
        None if grads[1] is None else mean_grad(grads[1], self, dim, keepdim),
    )


def std_mean(
    grads: Sequence[Tensor],
    self: Tensor,
    dim: Sequence[int] | None,
    correction: Scalar | None,
    keepdim: bool,
    result0: Tensor,
) -> Any:
    """Of deviation and mean."""
    return _sum(
        None if grads[0] is None else std_grad(grads[0], self, dim, correction, keepdim, result0),
        None if grads[1] is None else mean_grad(grads[1], self, dim, keepdim),
    )


derivative("var.correction", self=var_grad)
derivative("std.correction", self=std_grad)
derivative("var_mean.correction", self=var_mean)
derivative("std_mean.correction", self=std_mean)
derivative("median nanmedian", self=evenly)
derivative("median.dim", self=selected, node="MedianBackward1")
derivative("nanmedian.dim", self=selected, node="NanmedianBackward1")
derivative("mode kthvalue", self=selected)
