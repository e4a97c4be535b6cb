"""Functions over rows of the op table that upstream writes in Python: `norm`, `unique`, `unique_consecutive`."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.override import overrides

from .._naming import adopt


def norm(
    input: Any,
    p: float | str | None = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Any = None,
    dtype: Any = None,
) -> Any:
    """The vector norm of `input` over `dim`, or the matrix norm for ``p="nuc"``.

    >>> torch.norm(torch.tensor([3., 4.]))
    tensor(5.)
    """
    handled, result = overrides.handle(
        norm, (input,), {"p": p, "dim": dim, "keepdim": keepdim, "out": out, "dtype": dtype}
    )
    if handled:
        return result
    options = {"dtype": dtype} if out is None else {"dtype": dtype, "out": out}
    dims = [dim] if isinstance(dim, int) else dim
    if not isinstance(p, str):
        return aten.linalg_vector_norm(input, 2.0 if p is None else p, dims, keepdim, **options)
    if p == "fro" and (dims is None or len(dims) <= 2):
        return aten.linalg_vector_norm(input, 2, dims, keepdim, **options)
    return aten.linalg_matrix_norm(input, p, list(range(input.ndim)) if dims is None else dims, keepdim, **options)


def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The distinct elements of `input`, or its distinct slices along `dim`; with their places and counts when asked.

    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    options = {"sorted": sorted, "return_inverse": return_inverse, "return_counts": return_counts, "dim": dim}
    handled, result = overrides.handle(unique, (input,), options)
    if handled:
        return result
    if dim is not None:
        found = aten.unique_dim(input, dim, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    else:
        found = aten._unique2(input, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    return _asked(found, return_inverse, return_counts)


def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements of `input` that differ from the one before; with their places and counts when asked.

    >>> torch.unique_consecutive(torch.tensor([1, 1, 2]))
    tensor([1, 2])
    """
    options = {"return_inverse": return_inverse, "return_counts": return_counts, "dim": dim}
    handled, result = overrides.handle(unique_consecutive, (input,), options)
    if handled:
        return result
    found = aten.unique_consecutive(input, return_inverse=return_inverse, return_counts=return_counts, dim=dim)
    return _asked(found, return_inverse, return_counts)


def _asked(found: tuple[Any, Any, Any], return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = found
    kept = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return tuple(kept) if len(kept) > 1 else values


adopt(globals(), "torch.functional")
