"""The table of kernels for sparse tensors, and the errors for calls that it has none for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.promotion import can_cast

kernels: dict[str, Callable[..., Any]] = {}
"""Overload to the function that computes it; it takes and returns tensors."""


def kernel(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function for these overloads."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        kernels.update(dict.fromkeys(names, function))
        return function

    return register


def sparse_kernel(row: Any) -> Callable[..., Any] | None:
    """Return what computes `row` on sparse tensors: its own kernel, or for an in-place form that of its base."""
    own = kernels.get(row.name)
    if own is not None or row.kind != "inplace":
        return own
    base = kernels.get(row.base.name)
    return None if base is None else lambda self, *rest: written(self, base(self, *rest))


def written(tensor: Any, new: Any) -> Any:
    """Give `tensor` the entries of `new`, in its own dtype."""
    if not can_cast(new.dtype, tensor.dtype):
        raise RuntimeError(
            f"result type {new.dtype.scalar_name} can't be cast to the desired output type {tensor.dtype.scalar_name}"
        )
    return kernels["copy_"](tensor, new)


def without_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of an op without a derivative: what could carry a gradient is refused."""

    def computed(*values: object) -> Any:
        result = function(*values)
        if result.dtype.is_floating_point or result.dtype.is_complex:
            raise no_gradient()
        return result

    return computed


def no_sparse_kernel(row: Any) -> NotImplementedError:
    """Return torch's error for an op that sparse tensors do not have, without its list of other backends."""
    return NotImplementedError(
        f"Could not run '{row.aten_name}' with arguments from the 'SparseCPU' backend. This could be because the "
        "operator doesn't exist for this backend. Use to_dense() first."
    )


def no_gradient() -> NotImplementedError:
    """Return the error for a write to a sparse tensor that requires grad, and for an op without a derivative."""
    return NotImplementedError(
        "gradients do not flow through this op on sparse tensors: call detach() on the operand first, or use to_dense()"
    )
