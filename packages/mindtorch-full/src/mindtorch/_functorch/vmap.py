"""`torch._functorch.vmap`: how `vmap` takes its arguments apart and puts results together.

`vmap` calls these by their names here, so that a library which replaces them has its own containers mapped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._C._functorch import _add_batch_dim, _remove_batch_dim
from mindtorch._naming import adopt
from mindtorch.func import vmap
from mindtorch.func._levels import name_of as _get_name
from mindtorch.func._vmap import _batched_inputs, _taken_out, taken_out
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_map_, tree_unflatten
from mindtorch_dispatch.batching import open_level, unwrapped, wrapped
from mindtorch_storage.tensor_base import TensorBase

__all__ = ["Tensor", "tree_flatten", "tree_map_", "tree_unflatten", "vmap"]
_SHARED = (_add_batch_dim, _remove_batch_dim, _broadcast_to_and_flatten, _get_name)


def _process_batched_inputs(in_dims: Any, args: Any, func: Callable[..., Any]) -> tuple[int, Any, Any, Any]:
    """Return the batch size, the dimensions, the flat arguments and their structure."""
    flat, dims, spec, size = _batched_inputs(in_dims, args, func)
    return size, dims, flat, spec


def _create_batched_inputs(flat_in_dims: Any, flat_args: Any, vmap_level: int, args_spec: Any) -> Any:
    """Return the arguments as examples of a batch."""
    made = [
        one if dim is None else wrapped(one, dim, vmap_level) for one, dim in zip(flat_args, flat_in_dims, strict=True)
    ]
    return tree_unflatten(made, args_spec)


def _maybe_remove_batch_dim(
    name: str, batched_output: Any, vmap_level: int, batch_size: int, out_dim: int | None
) -> Any:
    """Return one output as the whole batch."""
    return taken_out(batched_output, out_dim, vmap_level, batch_size, name)


def _unwrap_batched(
    batched_outputs: Any, out_dims: Any, vmap_level: int, batch_size: int, func: Callable[..., Any]
) -> Any:
    """Return all outputs as whole batches."""
    return _taken_out(batched_outputs, vmap_level, batch_size, out_dims, func)


def restore_vmap(
    func: Callable[..., Any], in_dims: Any, batch_size: int, randomness: str
) -> Callable[..., tuple[Any, Any]]:
    """Return a function that maps ``func`` and gives, beside its outputs, where in each of them the examples lie.

    An output that is the same for all examples is at None.
    """

    def inner(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        flat, spec = tree_flatten(args)
        dims = _broadcast_to_and_flatten(in_dims, spec)
        with open_level(batch_size, randomness) as batch:
            result = func(*_create_batched_inputs(dims, flat, batch.level, spec), **kwargs)
            leaves, structure = tree_flatten(result)
            parts = [unwrapped(one, batch.level) if isinstance(one, TensorBase) else (one, None) for one in leaves]
        values, found = ([part[place] for part in parts] for place in (0, 1))
        return tree_unflatten(values, structure), tree_unflatten(found, structure)

    return inner


adopt(globals())
