"""`torch._higher_order_ops.scan`: a running state along a dimension, and what each step gives besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.functions.bound import function_of
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils import _pytree as pytree

_TOO_FEW = "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0"


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0, reverse: bool = False
) -> tuple[Any, Any]:
    """Return the last state, and the outputs of all steps stacked along `dim`.

    Args:
        combine_fn: called with the state and a part of `xs` along `dim`, without that dimension; it returns the next state
            and an output.
        init: the first state, a tensor or tensors in any containers.
        xs: likewise; without tensors in it, `init` and an empty list are returned.
        reverse: whether the steps go from the last part to the first; outputs stay in the order of `xs`.

    Raises:
        RuntimeError: wrong arguments; states of different structures.
        IndexError: no such dimension.

    >>> import torch
    >>> from torch._higher_order_ops import scan
    >>> scan(lambda total, x: (total + x, total * x), torch.zeros(()), torch.tensor([1.0, 2.0, 3.0]))
    (tensor(6.), tensor([0., 2., 9.]))
    """
    leaves, spec = pytree.tree_flatten(xs)
    if not leaves:
        return init, []
    dim = _check(combine_fn, leaves, pytree.tree_leaves(init), dim, reverse)
    state, structure = init, pytree.tree_structure(init)
    outputs = []
    length = leaves[0].shape[dim]
    for place in reversed(range(length)) if reverse else range(length):
        state, output = combine_fn(state, pytree.tree_unflatten([leaf.select(dim, place) for leaf in leaves], spec))
        found = pytree.tree_structure(state)
        if found != structure:
            raise RuntimeError(
                f"The tree structure of the inits and the carries are not identical.\ninits: {structure}\ncarries: {found}"
            )
        outputs.append(output)
    if reverse:
        outputs.reverse()
    stack = function_of("stack")
    rows = zip(*map(pytree.tree_leaves, outputs), strict=True)
    stacked = [None if row[0] is None else stack(list(row), min(dim, row[0].dim())) for row in rows]
    return state, pytree.tree_unflatten(stacked, pytree.tree_structure(outputs[0]))


def _check(combine_fn: Any, leaves: list[Any], states: list[Any], dim: Any, reverse: Any) -> int:
    """Raise torch's error for wrong arguments of `scan`; return the dimension counted from the front."""
    rank = leaves[0].dim() if isinstance(leaves[0], Tensor) else 0
    if isinstance(dim, int):
        if not -rank <= dim < rank:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
            )
        dim %= rank
    if not callable(combine_fn):
        raise RuntimeError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")
    if not states:
        raise RuntimeError("scan() operator requires init leaves.")
    for name, values in (("init", states), ("xs", leaves)):
        for value in values:
            if not isinstance(value, Tensor):
                raise RuntimeError(f"All {name} leaves must be a Tensor but got {value}")
    if any(leaf.dim() <= dim or leaf.shape[dim] == 0 for leaf in leaves):
        raise RuntimeError(_TOO_FEW)
    return dim


scan.__module__ = "torch._higher_order_ops.scan"
