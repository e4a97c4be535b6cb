"""`vmap`: a function of single examples called for a batch of them.

The function runs once per slice and the results are stacked: correct for every function, composable with every other
transform, and as slow as a loop. What only a batching dispatcher forbids (`item()`, control flow on values) works.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_storage.tensor_base import TensorBase

from ..random import get_rng_state, set_rng_state
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_map, tree_unflatten
from ._levels import name_of

_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that maps `func` over dimension `in_dims` of its positional arguments; keywords stay whole.

    Args:
        in_dims: the mapped dimension of each argument, None for arguments that every call gets whole; an int or a tuple
            structured as the arguments.
        out_dims: where the mapped dimension appears in each output, None for an output that does not depend on it.
        randomness: whether random operations raise ("error"), differ from slice to slice or are the same for all.
        chunk_size: accepted; slices are computed one at a time anyway.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        _checked_out_dims(out_dims, func)
        flat, dims, spec, size = _batched_inputs(in_dims, args, func)
        slices = _slices(flat, dims, size)
        state = get_rng_state() if randomness != "different" else None
        results: list[Any] = []
        for row in slices:
            if randomness == "same" and results:
                set_rng_state(state)
            results.append(func(*tree_unflatten(row, spec), **kwargs))
            if randomness == "error" and not bool(aten.equal(get_rng_state(), state)):
                raise RuntimeError(_RANDOM)
        return _gathered(results, out_dims, func, empty=size == 0)

    return wrapped


def _checked_out_dims(out_dims: Any, func: Callable[..., Any]) -> None:
    if isinstance(out_dims, int) or out_dims is None:
        return
    leaves, _ = tree_flatten(out_dims)
    if not isinstance(out_dims, (tuple, list, dict)) or any(not isinstance(one, (int, type(None))) for one in leaves):
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of "
            "ints representing where in the outputs the vmapped dimension should appear."
        )


def _batched_inputs(
    in_dims: Any, args: tuple[Any, ...], func: Callable[..., Any]
) -> tuple[list[Any], list[Any], Any, int]:
    """Return the flat arguments, their mapped dimensions, their structure and the batch size; torch's errors."""
    name = name_of(func)
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple "
            f"matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    flat, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. "
            f"in_dims has structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    made = [_checked_dim(one, dim, name, in_dims) for one, dim in zip(flat, dims, strict=True)]
    sizes = [one.shape[dim] for one, dim in zip(flat, made, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
            "dimension"
        )
    return flat, made, spec, sizes[0]


def _checked_dim(value: Any, dim: Any, name: str, in_dims: Any) -> int | None:
    start = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for"
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(f"{start} an input but in_dim must be either an integer dimension or None.")
    if not isinstance(value, TensorBase):
        raise ValueError(
            f"{start} an input but the input is of type {type(value)}. We cannot vmap over non-Tensor arguments, please use "
            "None as the respective in_dim"
        )
    count = value.dim()
    if not -count <= dim < count:
        raise ValueError(
            f"{start} some input, but that input is a Tensor of dimensionality {count} so expected in_dim to satisfy "
            f"-{count} <= in_dim < {count}."
        )
    return dim % count


def _slices(flat: Sequence[Any], dims: Sequence[Any], size: int) -> list[list[Any]]:
    """Return the arguments of each call. For an empty batch one call on zeros finds out the outputs' shapes."""
    columns = []
    for one, dim in zip(flat, dims, strict=True):
        if dim is None:
            columns.append([one] * max(size, 1))
        elif size == 0:
            shape = [extent for place, extent in enumerate(one.shape) if place != dim]
            columns.append([aten.zeros(shape, dtype=one.dtype, device=one.device)])
        else:
            columns.append(list(aten.unbind(one, dim)))
    return [list(row) for row in zip(*columns, strict=True)]


def _gathered(results: list[Any], out_dims: Any, func: Callable[..., Any], empty: bool) -> Any:
    """Return the results of all calls stacked, each output along its `out_dims`."""
    name = name_of(func)
    flat, spec = tree_flatten(results[0])
    for one in flat:
        if not isinstance(one, TensorBase):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(one)}. Did you mean to set out_dims= "
                "to None for output?"
            )
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. "
            f"out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    columns = zip(*[tree_flatten(result)[0] for result in results], strict=True)
    made = []
    for column, dim in zip(columns, dims, strict=True):
        if dim is None:
            made.append(column[0])
            continue
        stacked = aten.stack(list(column), dim)
        made.append(aten.narrow(stacked, dim, 0, 0) if empty else stacked)
    return tree_map(lambda one: one, tree_unflatten(made, spec))
