"""Products of vectors and matrices, and sums over subscripts."""

from __future__ import annotations

import itertools
from typing import Any

import mindtorch
from mindtorch import Tensor
from mindtorch.backends import opt_einsum
from mindtorch_storage.dtype import dtype as Dtype

from . import _dtypes_impl, _util
from ._conversions import _CASTINGS, as_tensor, copied, takes, wrapped
from ._dtypes import dtype as dtype_of
from ._ndarray_type import is_ndarray

_WORK = {mindtorch.bool: mindtorch.uint8, mindtorch.float16: mindtorch.float32}
"""The types in which products of these are computed."""


def _computed(a: Tensor, b: Tensor, function: Any, *, halves: bool = True) -> Any:
    """Return a product in the type that holds both operands, computed in one that there are kernels for."""
    a, b = _util.promoted(a, b)
    dtype = a.dtype
    work = dtype if dtype == mindtorch.float16 and not halves else _WORK.get(dtype, dtype)
    return _util.cast_if_needed(function(_util.cast_if_needed(a, work), _util.cast_if_needed(b, work)), dtype)


@takes("a b")
def kron(a: Tensor, b: Tensor) -> Any:
    """The Kronecker product."""
    return mindtorch.kron(a, b)


@takes("a b")
def vdot(a: Tensor, b: Tensor, /) -> Any:
    """The product of two vectors, the first one conjugated."""
    return _computed(a.flatten(), b.flatten(), mindtorch.vdot)


@takes("a b")
def dot(a: Tensor, b: Tensor, out: object = None) -> Any:
    """The product over the last axis of one and the last but one of the other."""
    scalar = a.ndim == 0 or b.ndim == 0
    return _computed(a, b, mindtorch.mul if scalar else mindtorch.matmul, halves=False)


@takes("a b")
def inner(a: Tensor, b: Tensor, /) -> Any:
    """The product over the last axes."""
    return _computed(a, b, mindtorch.inner)


@takes("a b")
def outer(a: Tensor, b: Tensor, out: object = None) -> Any:
    """The products of all pairs."""
    return mindtorch.outer(a, b)


@takes("a b")
def tensordot(a: Tensor, b: Tensor, axes: object = 2) -> Any:
    """The product over several axes."""
    if isinstance(axes, (list, tuple)):
        axes = [[one] if isinstance(one, int) else one for one in axes]
    return mindtorch.tensordot(*_util.promoted(a, b), dims=axes)


@takes("a b")
def cross(a: Tensor, b: Tensor, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Any:
    """The vector product; a vector of two elements has zero as its third."""
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    a = mindtorch.moveaxis(a, _util.normalize_axis_index(axisa, a.ndim), -1)
    b = mindtorch.moveaxis(b, _util.normalize_axis_index(axisb, b.ndim), -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    flat = a.shape[-1] == b.shape[-1] == 2
    a, b = _util.promoted(a, b)
    (a0, a1, a2), (b0, b1, b2) = (_three(one) for one in (a, b))
    last = a0 * b1 - a1 * b0
    if flat:
        return last
    result = mindtorch.stack(mindtorch.broadcast_tensors(a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, last), -1)
    return mindtorch.moveaxis(result, -1, _util.normalize_axis_index(axisc, result.ndim))


def _three(vector: Any) -> tuple[Any, Any, Any]:
    first, second = vector[..., 0], vector[..., 1]
    return first, second, vector[..., 2] if vector.shape[-1] == 3 else mindtorch.zeros_like(first)


def einsum(
    *operands: Any,
    out: object = None,
    dtype: Dtype | None = None,
    order: object = "K",
    casting: str = "safe",
    optimize: Any = False,
) -> Any:
    """Sums of products over subscripts, as text or as lists."""
    if casting not in _CASTINGS:
        raise ValueError(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '{casting}')")
    if out is not None and not is_ndarray(out):
        raise TypeError("'out' must be an array")
    if order != "K":
        raise NotImplementedError("'order' parameter is not supported.")
    text = isinstance(operands[0], str)
    given = operands[1:] if text else operands[: len(operands) // 2 * 2 : 2]
    tensors = [as_tensor(one) for one in given]
    target = _dtypes_impl.result_type_impl(*tensors) if dtype is None else dtype_of(dtype).torch_dtype
    if target == mindtorch.float16:
        target = mindtorch.float32
    elif target in (mindtorch.uint8, mindtorch.int8, mindtorch.int16, mindtorch.int32):
        target = mindtorch.int64
    tensors = list(_util.typecast_tensors(tensors, target, casting))
    if text:
        arguments: list[Any] = [operands[0], *tensors]
    else:
        arguments = list(itertools.chain(*zip(tensors, operands[1::2], strict=False)))
        arguments += operands[-1:] if len(operands) % 2 else []
    return wrapped(copied(out, _summed(arguments, optimize)))


def _summed(arguments: list[Any], optimize: Any) -> Any:
    if not opt_einsum.is_available():
        return mindtorch.einsum(*arguments)
    before = opt_einsum.strategy, opt_einsum.enabled
    try:
        if optimize is False:
            opt_einsum.enabled = False
        opt_einsum.strategy = "auto" if optimize is True else optimize
        return mindtorch.einsum(*arguments)
    finally:
        opt_einsum.strategy, opt_einsum.enabled = before
