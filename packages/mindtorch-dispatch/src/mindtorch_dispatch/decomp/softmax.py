"""Softmax with torch's `dtype` argument: convert, then one kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import dtype as Dtype

from ..call import aten
from ..meta.checks import check
from ..meta.support import require_floating
from ..typing import Tensor
from .single import Single


def _converted(self: Tensor, dtype: Dtype | None) -> Any:
    return self if dtype is None or dtype is self.dtype else aten._to_copy(self, dtype=dtype)


def _plain(name: str) -> Callable[..., Any]:
    """Return the rule of what is one kernel where there is nothing to convert."""
    return lambda self, dim, dtype: (name, (dim, False)) if dtype is None or dtype is self.dtype else None


@partial(Single, _plain("_softmax"))
def softmax(self: Tensor, dim: int, dtype: Dtype | None) -> Any:
    """`softmax.int`."""
    return aten._softmax(_converted(self, dtype), dim, False)


@partial(Single, _plain("_log_softmax"))
def log_softmax(self: Tensor, dim: int, dtype: Dtype | None) -> Any:
    """`log_softmax.int`."""
    return aten._log_softmax(_converted(self, dtype), dim, False)


def logsumexp(self: Tensor, dim: Sequence[int], keepdim: bool) -> Any:
    """`special_logsumexp`."""
    return aten.logsumexp(self, dim, keepdim)


def _mask_like(self: Tensor, mask: Tensor, mask_type: int) -> Any:
    """Return a mask of two dimensions in the shape of four-dimensional scores (batch, heads, length, length)."""
    shape, given = list(self.shape), list(mask.shape)
    if (len(shape), len(given)) == (4, 2) and mask_type != 2:
        length = shape[2]
        check(
            mask_type in (0, 1),
            lambda: "Mask Type should be 0 (src_mask) or 1 (src_key_padding_mask), or 2 (default_mask)",
        )
        if mask_type == 0:
            check(given == [length, length], lambda: "For mask_type == 0 mask shape should be (L, L)")
            return aten.expand(mask, shape)
        check(given == [shape[0], length], lambda: "For mask_type == 1 mask shape should be (B, L)")
        return aten.expand(aten.view(mask, [shape[0], 1, 1, length]), shape)
    raise RuntimeError("For mask_type == 2 mask shape should match input shape")


def masked_softmax(self: Tensor, mask: Tensor, dim: int | None, mask_type: int | None) -> Any:
    """Softmax over the elements where the mask does not hold; the others are zero."""
    check(mask.dtype is bool_dtype, lambda: "Mask should be a boolean tensor")
    if mask.shape != self.shape:
        if mask_type is None and (self.dim(), mask.dim()) == (4, 2):
            raise RuntimeError("Mask Type should be defined")
        mask = _mask_like(self, mask, 2 if mask_type is None else mask_type)
    if self.numel():
        require_floating(self, "masked_softmax")
    return aten._softmax(aten.masked_fill(self, mask, float("-inf")), -1 if dim is None else dim, False)


def masked_softmax_backward(grad_output: Tensor, output: Tensor, mask: Tensor, dim: int | None) -> Any:
    """Gradient of `masked_softmax`: none where the mask holds, also in rows of nan where it holds throughout."""
    check(list(grad_output.shape) == list(mask.shape), lambda: "Mask shape should match grad shape")
    check(mask.dtype is bool_dtype, lambda: "Mask should be a boolean tensor")
    found = aten._softmax_backward_data(grad_output, output, -1 if dim is None else dim, output.dtype)
    return aten.masked_fill(found, mask, 0)
