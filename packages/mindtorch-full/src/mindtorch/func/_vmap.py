"""`vmap`: a function of single examples called once for a batch of them.

The function gets batched tensors (`mindtorch_dispatch.batching`), which look like one example: every op they meet computes
the whole batch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_dispatch.batching import open_level, unwrapped
from mindtorch_dispatch.call import aten
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.tensor_base import TensorBase

from ..random import get_rng_state, set_rng_state
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten
from ._levels import name_of

# Its module `vmap` has the steps of a call; its names are read anew each time, as libraries replace them.
_functorch = LazyModule("mindtorch._functorch", "it is made of the functions here")


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
        in_dims: the mapped dimension of each argument, None for arguments that every example gets whole; an int or a tuple
            structured as the arguments.
        out_dims: where the mapped dimension appears in each output, None for an output that does not depend on it.
        randomness: whether random operations raise ("error"), differ from example to example or are the same for all.
        chunk_size: how many examples to compute at a time, all of them when None.

    >>> torch.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    check_randomness(randomness)
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped_function(*args: Any, **kwargs: Any) -> Any:
        _checked_out_dims(out_dims, func)
        size, dims, flat, spec = _functorch.vmap._process_batched_inputs(in_dims, args, func)

        def run(part: Sequence[Any], count: int) -> Any:
            with open_level(count, randomness) as batch:
                given = _functorch.vmap._create_batched_inputs(dims, part, batch.level, spec)
                result = func(*given, **kwargs)
            return _functorch.vmap._unwrap_batched(result, out_dims, batch.level, count, func)

        if chunk_size is None or chunk_size >= size:
            return run(flat, size)
        return _in_chunks(run, flat, dims, size, out_dims, randomness, chunk_size)

    return wrapped_function


def check_randomness(randomness: str) -> None:
    """Raise torch's error for what is no kind of randomness."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def _in_chunks(
    run: Callable[[Sequence[Any], int], Any],
    flat: Sequence[Any],
    dims: Sequence[Any],
    size: int,
    out_dims: Any,
    randomness: str,
    chunk_size: int,
) -> Any:
    """Return what `run` makes of the whole batch, in calls for some examples at a time."""
    state = get_rng_state() if randomness == "same" else None
    pieces: list[list[Any]] = []
    structure: Any = None
    for start in range(0, size, chunk_size):
        if state is not None:
            set_rng_state(state)
        count = min(chunk_size, size - start)
        part = [one if dim is None else one.narrow(dim, start, count) for one, dim in zip(flat, dims, strict=True)]
        leaves, structure = tree_flatten(run(part, count))
        pieces.append(leaves)
    where = _broadcast_to_and_flatten(out_dims, structure)
    joined = [
        column[0] if dim is None else aten.cat(list(column), dim)
        for column, dim in zip(zip(*pieces, strict=True), where, strict=True)
    ]
    return tree_unflatten(joined, structure)


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
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially "
            f"nested) tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    flat, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. "
            f"in_dims has structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    made = [_checked_dim(one, dim, func, in_dims) for one, dim in zip(flat, dims, strict=True)]
    sizes = [one.shape[dim] for one, dim in zip(flat, made, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
            "dimension"
        )
    return flat, made, spec, sizes[0]


def _checked_dim(value: Any, dim: Any, func: Callable[..., Any], in_dims: Any) -> int | None:
    if dim is None:
        return None
    if isinstance(dim, int) and isinstance(value, TensorBase) and -value.dim() <= dim < value.dim():
        return dim % value.dim()
    start = f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for"
    if not isinstance(dim, int):
        raise ValueError(f"{start} an input but in_dim must be either an integer dimension or None.")
    if not isinstance(value, TensorBase):
        raise ValueError(
            f"{start} an input but the input is of type {type(value)}. We cannot vmap over non-Tensor arguments, please use "
            "None as the respective in_dim"
        )
    count = value.dim()
    raise ValueError(
        f"{start} some input, but that input is a Tensor of dimensionality {count} so expected in_dim to satisfy "
        f"-{count} <= in_dim < {count}."
    )


def _taken_out(result: Any, level: int, size: int, out_dims: Any, func: Callable[..., Any]) -> Any:
    """Return a result with every output as the whole batch, its examples along the output's `out_dims`."""
    flat, spec = tree_flatten(result)
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    made = [taken_out(one, dim, level, size, func) for one, dim in zip(flat, dims, strict=True)]
    return tree_unflatten(made, spec)


def taken_out(one: Any, dim: int | None, level: int, size: int, func: Callable[..., Any] | str) -> Any:
    """Return one output as the whole batch; torch's errors for what is no tensor, or cannot be where it is wanted."""
    if not isinstance(one, TensorBase):
        if dim is None:
            return one
        name = name_of(func)
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(one)}. Did you mean to set out_dims= "
            "to None for output?"
        )
    value, source = unwrapped(one, level)
    if dim is None:
        if source is not None:
            name = name_of(func)
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return value
    if source is None:
        value, source = aten.expand(aten.unsqueeze(value, 0), [size, *value.shape]), 0
    return value if dim == source else aten.movedim(value, source, dim)
