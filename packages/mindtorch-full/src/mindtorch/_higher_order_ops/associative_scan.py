"""`torch._higher_order_ops.associative_scan`: running combinations along a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.functions.bound import function_of
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils import _pytree as pytree


def associative_scan(
    combine_fn: Callable[[Any, Any], Any],
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:
    """Return for each place along `dim` what `combine_fn` makes of all values up to it, or from it on if `reverse`.

    Args:
        xs: a tensor, or tensors in any containers; `combine_fn` gets two such, without `dim`.
        combine_mode: "generic"; "pointwise" is for devices that compile.

    Raises:
        ValueError: wrong arguments.
        IndexError: no such dimension.
    """
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves, spec = pytree.tree_flatten(xs)
    if not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise ValueError(f"xs leaves must be a Tensor, got {xs}")
    rank = leaves[0].dim()
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    if combine_mode == "pointwise":
        raise ValueError("For combine_mode='pointwise', all input tensors need to be on CUDA or XPU")
    length = leaves[0].shape[dim]
    if length == 0 or any(leaf.dim() <= dim for leaf in leaves):
        raise ValueError("All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0")
    if any(leaf.shape[dim] != length for leaf in leaves):
        raise ValueError("All xs leaves must have the same length along the scan dimension")
    made: list[list[Tensor]] = []
    for place in reversed(range(length)) if reverse else range(length):
        here = pytree.tree_unflatten([leaf.select(dim, place) for leaf in leaves], spec)
        value = here if not made else combine_fn(pytree.tree_unflatten(made[-1], spec), here)
        made.append(pytree.tree_leaves(value))
    ordered = made[::-1] if reverse else made
    stack = function_of("stack")
    return pytree.tree_unflatten([stack(list(row), dim) for row in zip(*ordered, strict=True)], spec)


associative_scan.__module__ = "torch._higher_order_ops.associative_scan"
