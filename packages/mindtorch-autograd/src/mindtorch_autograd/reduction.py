"""Fitting of a formula's gradient to its input: un-broadcast, cast, done once here and in no formula."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase


def sum_to_shape(grad: Any, shape: tuple[int, ...]) -> Any:
    """Return `grad` summed over the dimensions that broadcasting to its shape added or stretched."""
    have = grad.shape
    lead = len(have) - len(shape)
    dims = list(range(lead))
    dims += [lead + i for i, extent in enumerate(shape) if extent == 1 and have[lead + i] != 1]
    if dims:
        grad = aten.sum(grad, dims, True)
    return aten.view(grad, list(shape)) if lead else grad


def fit(grad: TensorBase, spec: Spec | None) -> Any:
    """Return `grad` with the shape and dtype of the input that `spec` describes."""
    if spec is None:
        return grad
    have = grad._sig.spec
    if have is spec:
        return grad
    if have.shape != spec.shape:
        grad = sum_to_shape(grad, spec.shape)
    if have.dtype is not spec.dtype:
        if have.dtype.is_complex and not spec.dtype.is_complex:
            grad = aten.real(grad)
        if grad._sig.spec.dtype is not spec.dtype:
            grad = aten._to_copy(grad, dtype=spec.dtype)
    return grad
