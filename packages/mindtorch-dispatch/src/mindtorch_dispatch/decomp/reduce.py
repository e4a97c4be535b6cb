"""Reductions composed of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import bool as _BOOL
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..meta.checks import check
from ..typing import Scalar, Tensor


def nanmean(self: TensorBase, dim: Sequence[int] | None, keepdim: bool, dtype: Dtype | None) -> Any:
    """Mean of what is not nan."""
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {self.dtype.scalar_name}"
        )
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. "
            f"Got: {dtype.scalar_name}"
        )
    count = aten.sum(aten.logical_not(aten.isnan(aten.detach(self))), dim, keepdim)
    return aten.div(aten.nansum(self, dim, keepdim, dtype=dtype), count)


def norm(self: TensorBase, p: Scalar) -> Any:
    """Norm of all elements."""
    return aten.linalg_vector_norm(self, 2 if p is None else p)


def norm_dtype(self: TensorBase, p: Scalar | None, dtype: Dtype) -> Any:
    """Norm of all elements, computed in `dtype`."""
    return aten.linalg_vector_norm(self, 2 if p is None else p, dtype=dtype)


def norm_dim(self: TensorBase, p: Scalar | None, dim: Sequence[int], keepdim: bool, dtype: Dtype | None = None) -> Any:
    """Norm over dims."""
    return aten.linalg_vector_norm(self, 2 if p is None else p, dim, keepdim, dtype=dtype)


def is_all_true(self: Tensor) -> Any:
    """`all` of truth values."""
    check(self.dtype is _BOOL, lambda: "self.scalar_type() == at::kBool INTERNAL ASSERT FAILED")
    return aten.all(self)


def is_any_true(self: Tensor) -> Any:
    """`any` of truth values."""
    check(self.dtype is _BOOL, lambda: "self.scalar_type() == at::kBool INTERNAL ASSERT FAILED")
    return aten.any(self)
