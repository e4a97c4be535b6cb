"""`torch._higher_order_ops.map`: a function along the first dimension of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.functions.bound import function_of
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils import _pytree as pytree


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """Return what ``f`` makes of each part of ``xs`` along the first dimension, stacked; ``args`` it gets whole.

    Args:
        xs: a tensor, or tensors in any containers.

    Raises:
        RuntimeError: no tensors, first dimensions of length 0 or of different lengths.
    """
    leaves, spec = pytree.tree_flatten(xs)
    if not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {leaves}.")
    shapes = [leaf.shape for leaf in leaves]
    length = shapes[0][0]
    if length == 0:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    if any(shape[0] != length for shape in shapes):
        raise RuntimeError(f"Leading dimensions of mapped xs must be consistent. Got shapes {shapes}.")
    made = [
        f(pytree.tree_unflatten([leaf.select(0, place) for leaf in leaves], spec), *args) for place in range(length)
    ]
    structure = pytree.tree_structure(made[0])
    stack = function_of("stack")
    rows = zip(*(pytree.tree_leaves(one) for one in made), strict=True)
    return pytree.tree_unflatten([None if row[0] is None else stack(list(row), 0) for row in rows], structure)


map.__module__ = "torch._higher_order_ops.map"
