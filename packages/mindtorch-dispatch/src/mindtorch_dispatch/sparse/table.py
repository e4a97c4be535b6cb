"""The table of kernels for sparse tensors, and the errors for calls that it has none for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    return None if base is None else lambda self, *rest: _replace(self, base(self, *rest))


def _replace(tensor: Any, new: Any) -> Any:
    tensor._sig, tensor._array = new._sig, new._array
    tensor._counter[0] += 1
    return tensor


def no_sparse_kernel(row: Any) -> NotImplementedError:
    """Return torch's error for an op that sparse tensors do not have, without its list of other backends."""
    return NotImplementedError(
        f"Could not run '{row.aten_name}' with arguments from the 'SparseCPU' backend. This could be because the "
        "operator doesn't exist for this backend: sparse tensors exist here for gradients of embeddings and the "
        "optimizers that take them. Use to_dense() first."
    )


def no_gradient() -> NotImplementedError:
    """Return the error for an operand of a sparse tensor that requires grad."""
    return NotImplementedError(
        "gradients do not flow through sparse tensors here: call detach() on the operand first, or use to_dense()"
    )
