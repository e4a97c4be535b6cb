"""Conversions of tensors with masks between layouts, and choices between them, through which gradients flow."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch.autograd import Function

from .core import MaskedTensor, is_masked_tensor


def _require_mask(name: str, tensor: Any) -> None:
    if not is_masked_tensor(tensor):
        raise ValueError(f"{name} forward: input must be a MaskedTensor.")


def _chosen(cond: Any, one: Any, other: Any) -> Any:
    """Return elements of one or the other by the operator: the function is what asks for it."""
    with torch._C.DisableTorchFunctionSubclass():
        return torch.ops.aten.where(cond, one, other)


class _MaskedContiguous(Function):
    """Data and mask without gaps."""

    @staticmethod
    def forward(ctx: Any, input: Any) -> Any:
        _require_mask("MaskedContiguous", input)
        if input.is_contiguous():
            return input
        return MaskedTensor(input.get_data().contiguous(), input.get_mask().contiguous())

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output


class _MaskedToDense(Function):
    """Sparse data and masks with all their elements."""

    @staticmethod
    def forward(ctx: Any, input: Any) -> Any:
        _require_mask("MaskedToDense", input)
        ctx.layout = input.layout
        if input.layout is torch.strided:
            return input
        return MaskedTensor(input.get_data().to_dense(), input.get_mask().to_dense())

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        if ctx.layout is torch.sparse_coo:
            return grad_output.to_sparse_coo()
        if ctx.layout is torch.sparse_csr:
            return grad_output.to_sparse_csr()
        if ctx.layout is torch.strided:
            return grad_output.to_dense()
        raise ValueError(f"to_dense: Unsupported input layout: {ctx.layout}")


class _MaskedToSparse(Function):
    """The elements that the mask leaves, by their coordinates."""

    @staticmethod
    def forward(ctx: Any, input: Any) -> Any:
        _require_mask("MaskedToSparse", input)
        if input.layout is torch.sparse_coo:
            return input
        mask = input.get_mask().to_sparse_coo().coalesce()
        return MaskedTensor(input.get_data().sparse_mask(mask), mask)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output.to_dense()


class _MaskedToSparseCsr(Function):
    """The elements that the mask leaves, by rows."""

    @staticmethod
    def forward(ctx: Any, input: Any) -> Any:
        _require_mask("MaskedToSparseCsr", input)
        if input._masked_data.ndim != 2:
            raise ValueError(
                f"Only 2D tensors can be converted to the SparseCsr layout but got shape: {input._masked_data.size()}"
            )
        if input.layout is torch.sparse_csr:
            return input
        mask = input.get_mask().to_sparse_csr()
        return MaskedTensor(input.get_data().sparse_mask(mask), mask)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output.to_dense()


class _MaskedWhere(Function):
    """Elements of one or the other; the gradient of each is masked where the other was taken."""

    @staticmethod
    def forward(ctx: Any, cond: Any, self: Any, other: Any) -> Any:
        ctx.mark_non_differentiable(cond)
        ctx.save_for_backward(cond)
        return _chosen(cond, self, other)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (cond,) = ctx.saved_tensors
        hidden = MaskedTensor(grad_output.get_data(), torch.zeros_like(grad_output.get_mask()))
        return (
            None,
            _chosen(cond, grad_output, hidden),
            _chosen(cond, hidden, grad_output),
        )
