"""The table of kernels for sparse tensors, and the errors for calls that it has none for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mindtorch_storage.layout import layout_name
from mindtorch_storage.promotion import can_cast
from mindtorch_storage.sparse import CompressedSpec, without

from ..meta.rule import every_dim
from ..table import RowKind, registration

kernels: dict[str, Callable[..., Any]] = {}
"""Overload to the function that computes it; it takes and returns tensors."""


compressed_kernels: dict[str, Callable[..., Any]] = {}
"""The same for tensors with compressed rows or columns."""


kernel = registration(kernels)
"""Registers a function for overloads: `@kernel("cat")`."""
compressed_kernel = registration(compressed_kernels)
"""The same of functions of tensors with compressed rows or columns."""


def sparse_kernel(row: Any, compressed: bool = False) -> Callable[..., Any] | None:
    """Return what computes `row` on sparse tensors: its own kernel, or for an in-place form that of its base."""
    table = compressed_kernels if compressed else kernels
    own = table.get(row.name)
    if own is not None or row.kind is not RowKind.INPLACE:
        return own
    base = table.get(row.base.name)
    return None if base is None else lambda self, *rest: written(self, base(self, *rest))


def written(tensor: Any, new: Any) -> Any:
    """Give `tensor` the entries of `new`, in its own dtype."""
    if not can_cast(new.dtype, tensor.dtype):
        raise RuntimeError(
            f"result type {new.dtype.scalar_name} can't be cast to the desired output type {tensor.dtype.scalar_name}"
        )
    table = compressed_kernels if type(tensor._sig.spec) is CompressedSpec else kernels
    return table["copy_"](tensor, new)


def filling(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of one sparse tensor that can write another one given as `out=`."""

    def into(out: Any, self: Any, *rest: Any) -> Any:
        if out._sig.spec.layout is not self._sig.spec.layout:
            raise RuntimeError(
                "Expected self.is_sparse() && result.is_sparse() to be true, but got false.  (Could this error message be "
                "improved?  If so, please report an enhancement request to PyTorch.)"
            )
        return written(out, function(self, *rest))

    filled = partial(function)
    filled.into = into  # type: ignore[attr-defined]  # as compositions have it
    return filled


def without_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of an op without a derivative: what could carry a gradient is refused."""

    def computed(*values: object) -> Any:
        result = function(*values)
        if result.dtype.is_floating_point or result.dtype.is_complex:
            raise no_gradient()
        return result

    return computed


def no_compressed_kernel(row: Any, tensors: Sequence[Any]) -> Exception:
    """Return torch's error for an op that compressed tensors do not have: views need strides, pointwise ops a layout."""
    given = next((one._sig.spec.layout for one in tensors if type(one._sig.spec) is CompressedSpec), None)
    meta = (row.base or row).meta
    if given is not None and row.schema.returns[0].alias_set and not row.schema.returns[0].is_write:
        return without(given, "strides")
    if given is not None and getattr(meta, "leading", None) is every_dim:
        return RuntimeError(f"unsupported tensor layout: {layout_name(given)}")
    return no_sparse_kernel(row, True)


def no_sparse_kernel(row: Any, compressed: bool = False) -> NotImplementedError:
    """Return torch's error for an op that sparse tensors do not have, without its list of other backends."""
    backend = "SparseCsrCPU" if compressed else "SparseCPU"
    return NotImplementedError(
        f"Could not run '{row.aten_name}' with arguments from the '{backend}' backend. This could be because the "
        "operator doesn't exist for this backend. Use to_dense() first."
    )


def no_gradient() -> NotImplementedError:
    """Return the error for a write to a sparse tensor that requires grad, and for an op without a derivative."""
    return NotImplementedError(
        "gradients do not flow through this op on sparse tensors: call detach() on the operand first, or use to_dense()"
    )
