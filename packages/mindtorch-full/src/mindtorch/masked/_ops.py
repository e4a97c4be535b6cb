"""Reductions and normalizations of the elements a mask leaves: the others count as the operation's identity."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
import mindtorch.nn.functional as F
from mindtorch._naming import adopt

from ._identity import _combine_input_and_mask as _combine_input_and_mask
from ._identity import _masked
from ._identity import _reduction_identity as _reduction_identity
from ._masks import _canonical_dim, _input_mask
from ._sparse import reduce as _sparse_reduce
from ._sparse import require_mask, require_strided
from ._sparse import where as _where
from .maskedtensor.core import is_masked_tensor

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]

_SUMMED_AS_LONG = ("torch.uint8", "torch.bool", "torch.int8", "torch.int16", "torch.int32")


def _long_if_short(input: Any, dtype: Any) -> Any:
    if dtype is not None:
        return dtype
    return torch.int64 if str(input.dtype) in _SUMMED_AS_LONG else input.dtype


def sum(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The sum of the elements left.

    >>> torch.masked.sum(torch.tensor([1.0, 2.0]), mask=torch.tensor([True, False]))
    tensor(1.)
    """
    dtype = _long_if_short(input, dtype)
    dims = _canonical_dim(dim, input.ndim)
    if input.layout is not torch.strided:
        return _sparse_reduce("sum", _masked("sum", input, mask), dims, bool(keepdim), dtype)
    return torch.sum(_masked("sum", input, mask), dims, bool(keepdim), dtype=dtype)


def prod(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The product of the elements left.

    >>> torch.masked.prod(torch.tensor([3.0, 2.0]), mask=torch.tensor([True, False]))
    tensor(3.)
    """
    require_mask("prod", input, mask)
    dtype = _long_if_short(input, dtype)
    result = _masked("prod", input, mask)
    if input.layout is not torch.strided:
        return _sparse_reduce("prod", result, _canonical_dim(dim, input.ndim), bool(keepdim), dtype)
    for one in reversed(_canonical_dim(dim, input.ndim)):
        result = result.prod(dim=one, keepdim=bool(keepdim))
    return result.to(dtype)


def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Running sums; hidden elements add nothing.

    >>> torch.masked.cumsum(torch.tensor([1.0, 2.0, 3.0]), 0, mask=torch.tensor([True, True, True]))
    tensor([1., 3., 6.])
    """
    require_strided("cumsum", input)
    dtype = input.dtype if dtype is None else dtype
    return torch.cumsum(_masked("cumsum", input, mask), _canonical_dim(dim, input.ndim)[0], dtype=dtype).to(dtype=dtype)


def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Running products; hidden elements multiply by one.

    >>> torch.masked.cumprod(torch.tensor([1.0, 2.0, 3.0]), 0, mask=torch.tensor([True, True, True]))
    tensor([1., 2., 6.])
    """
    require_strided("cumprod", input)
    dtype = input.dtype if dtype is None else dtype
    return torch.cumprod(_masked("cumprod", input, mask), _canonical_dim(dim, input.ndim)[0], dtype=dtype).to(
        dtype=dtype
    )


def amax(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The largest of the elements left.

    >>> torch.masked.amax(torch.tensor([1.0, 2.0]), 0, mask=torch.tensor([True, False]))
    tensor(1.)
    """
    require_mask("amax", input, mask)
    dtype = input.dtype if dtype is None else dtype
    shown, dims = _masked("amax", input, mask), _canonical_dim(dim, input.ndim)
    if input.layout is not torch.strided:
        return _sparse_reduce("amax", shown, dims, bool(keepdim), dtype)
    return torch.amax(shown, dims, bool(keepdim)).to(dtype=dtype)


def amin(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The smallest of the elements left.

    >>> torch.masked.amin(torch.tensor([1.0, 2.0]), 0, mask=torch.tensor([False, True]))
    tensor(2.)
    """
    require_mask("amax" if input.layout is torch.sparse_coo else "amin", input, mask)
    dtype = input.dtype if dtype is None else dtype
    shown, dims = _masked("amin", input, mask), _canonical_dim(dim, input.ndim)
    if input.layout is not torch.strided:
        return _sparse_reduce("amin", shown, dims, bool(keepdim), dtype)
    return torch.amin(shown, dims, bool(keepdim)).to(dtype=dtype)


def argmax(input: Any, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Where the largest of the elements left is, in the input's dtype.

    >>> torch.masked.argmax(torch.tensor([1.0, 2.0]), 0, mask=torch.tensor([True, False]))
    tensor(0.)
    """
    require_strided("argmax", input)
    dtype = input.dtype if dtype is None else dtype
    return torch.argmax(_masked("argmax", input, mask), dim, bool(keepdim)).to(dtype=dtype)


def argmin(input: Any, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Where the smallest of the elements left is, in the input's dtype.

    >>> torch.masked.argmin(torch.tensor([1.0, 2.0]), 0, mask=torch.tensor([False, True]))
    tensor(1.)
    """
    require_strided("argmin", input)
    dtype = input.dtype if dtype is None else dtype
    return torch.argmin(_masked("argmin", input, mask), dim, bool(keepdim)).to(dtype=dtype)


def mean(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The mean of the elements left; NaN where none is.

    >>> torch.masked.mean(torch.tensor([1.0, 2.0]), mask=torch.tensor([True, False]))
    tensor(1.)
    """
    if dtype is None and not (input.dtype.is_floating_point or input.dtype.is_complex):
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either "
            f"a floating point or complex dtype. Got: {input.dtype}"
        )
    dtype = input.dtype if dtype is None else dtype
    if input.layout is torch.sparse_coo:
        raise ValueError(f"masked mean expects strided or sparse_csr tensor (got {input.layout} tensor)")
    require_mask("mean", input, mask)
    if input.layout is torch.sparse_csr:
        zero = torch.zeros([], dtype=input.dtype, device=input.device)
        shown = _where(_input_mask(input, mask=mask), input, zero)
        return _sparse_reduce("mean", shown, _canonical_dim(dim, input.ndim), bool(keepdim), dtype)
    if mask is None and not is_masked_tensor(input):
        return torch.mean(input, dim=_canonical_dim(dim, input.ndim), keepdim=bool(keepdim), dtype=dtype)
    if mask is None:
        mask = torch.ones(input.shape, dtype=torch.bool, device=input.device)  # torch counts what is hidden, too
    left = _input_mask(input, mask=mask)
    count = torch.sum(left, _canonical_dim(dim, input.ndim), bool(keepdim), dtype=torch.int64)
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=left) / count


def median(input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The median of the elements left; NaN where none is.

    >>> torch.masked.median(torch.tensor([1.0, 2.0]), 0, mask=torch.tensor([True, False]))
    tensor(1.)
    """
    require_strided("median", input)
    dim = _canonical_dim(dim, input.ndim)[0]
    floating = input.dtype.is_floating_point
    if mask is None:
        if floating:
            return torch.nanmedian(input, dim, bool(keepdim)).values
        return torch.median(input, dim, bool(keepdim)).values
    left = _input_mask(input, mask=mask)
    if not floating and not left.any(dim=dim).all():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    values = torch.nanmedian(_masked("median", input, left), dim, bool(keepdim)).values
    return values if floating else values.to(input.dtype)


def logsumexp(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The logarithm of the sum of the exponentials of the elements left.

    >>> torch.masked.logsumexp(torch.tensor([1.0, 2.0]), 0, mask=torch.tensor([True, False]))
    tensor(1.)
    """
    require_strided("logsumexp", input)
    dtype = input.dtype if dtype is None else dtype
    shown = _masked("logsumexp", input, mask)
    return torch.logsumexp(shown, _canonical_dim(dim, input.ndim), keepdim=bool(keepdim)).to(dtype=dtype)


def logaddexp(
    input: Any,
    other: Any,
    *,
    dtype: Any = None,
    input_mask: Any = None,
    other_mask: Any = None,
) -> Any:
    """The logarithm of the sum of two exponentials; hidden elements add nothing.

    >>> torch.masked.logaddexp(torch.zeros(1), torch.zeros(1))
    tensor([0.6931])
    """
    require_strided("logaddexp", input)
    dtype = input.dtype if dtype is None else dtype
    shown, shown_other = _masked("logaddexp", input, input_mask), _masked("logaddexp", other, other_mask)
    return torch.logaddexp(shown, shown_other).to(dtype=dtype)


def norm(
    input: Any,
    ord: float | None = 2.0,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """The norm of the elements left.

    >>> torch.masked.norm(torch.tensor([3.0, 2.0]), 2, 0, mask=torch.tensor([True, False]))
    tensor(3.)
    """
    require_strided("norm", input)
    dtype = input.dtype if dtype is None else dtype
    shown = _masked("norm", input, mask, ord)
    return torch.linalg.vector_norm(shown, ord, _canonical_dim(dim, input.ndim), bool(keepdim), dtype=dtype)


def _spread(input: Any, dim: Any, unbiased: Any, correction: Any, keepdim: Any, dtype: Any, mask: Any) -> Any:
    """The variance of the elements left."""
    require_strided("std/var", input)
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    subtract = 1 if unbiased is None else int(unbiased)
    if correction is not None:
        subtract = correction
    if dtype is None:
        dtype = input.dtype if input.dtype.is_floating_point or input.dtype.is_complex else torch.float32
    computed = dtype if dtype.is_floating_point or dtype.is_complex else torch.float32
    left = (
        torch.ones(input.shape, dtype=torch.bool, device=input.device)
        if mask is None
        else _input_mask(input, mask=mask)
    )
    dims = _canonical_dim(dim, input.ndim)
    count = torch.sum(left, dims, True, dtype=torch.int64)
    center = sum(input, dim, keepdim=True, dtype=computed, mask=left) / count
    offset = input - center
    total = sum(offset * offset.conj(), dim, keepdim=keepdim, dtype=computed, mask=left)
    if not keepdim:
        count = count.reshape(total.shape)
    if subtract != 0:
        count = torch.maximum(count - subtract, torch.zeros_like(count))
    return (total / count).to(dtype=dtype)


def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """The variance of the elements left.

    >>> torch.masked.var(torch.tensor([1.0, 3.0, 9.0]), mask=torch.tensor([True, True, False]))
    tensor(2.)
    """
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: int | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """The standard deviation of the elements left.

    >>> torch.masked.std(torch.tensor([1.0, 3.0, 9.0]), unbiased=False, mask=torch.tensor([True, True, False]))
    tensor(1.)
    """
    variance = _spread(input, dim, unbiased, correction, keepdim, None, mask)
    return torch.sqrt(variance) if dtype is None else torch.sqrt(variance).to(dtype=dtype)


def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Probabilities of the elements left; the others get zero.

    >>> torch.masked.softmax(torch.tensor([1.0, 1.0, 9.0]), 0, mask=torch.tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    require_strided("softmax", input)
    dtype = input.dtype if dtype is None else dtype
    return F.softmax(_masked("amax", input, mask), _canonical_dim(dim, input.ndim)[0], dtype=dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Log-probabilities of the elements left; the others get minus infinity.

    >>> torch.masked.log_softmax(torch.tensor([1.0, 1.0]), 0, mask=torch.tensor([True, True]))
    tensor([-0.6931, -0.6931])
    """
    require_strided("log_softmax", input)
    dtype = input.dtype if dtype is None else dtype
    return F.log_softmax(_masked("amax", input, mask), _canonical_dim(dim, input.ndim)[0], dtype=dtype)


def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Probabilities of the elements left, small elements first.

    >>> torch.masked.softmin(torch.tensor([1.0, 1.0, 9.0]), 0, mask=torch.tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    require_strided("softmin", input)
    dtype = input.dtype if dtype is None else dtype
    return F.softmin(_masked("amin", input, mask), _canonical_dim(dim, input.ndim)[0], dtype=dtype)


def normalize(
    input: Any,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """The elements left, divided by their norm; the others become zero.

    >>> torch.masked.normalize(torch.tensor([3.0, 4.0]), 2, 0, mask=torch.tensor([True, True]))
    tensor([0.6000, 0.8000])
    """
    require_strided("normalize", input)
    dtype = input.dtype if dtype is None else dtype
    length = norm(input, ord, _canonical_dim(dim, input.ndim)[0], keepdim=True, dtype=dtype, mask=mask)
    shown = _masked("sum", input, mask)
    return shown / torch.maximum(length, torch.full([], eps, dtype=length.dtype, device=length.device))


adopt(globals())
