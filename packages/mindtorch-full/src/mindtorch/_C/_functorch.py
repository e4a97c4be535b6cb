"""`torch._C._functorch`: batched tensors as `vmap` makes them, taken apart and put together."""

from __future__ import annotations

import enum
from typing import Any

from mindtorch._naming import adopt
from mindtorch.func._vmap import taken_out
from mindtorch_dispatch.batching import current, fallback, is_batched, unwrapped, wrapped

__all__: list[str] = []


class TransformType(enum.Enum):
    """The kinds of transforms of `torch.func`."""

    Torch = 0
    Vmap = 1
    Grad = 2
    Jvp = 3
    Functionalize = 4


def _is_vmap_fallback_enabled() -> bool:
    """Return whether ops without a rule for batches are computed example by example."""
    return fallback.warnings_shown().allowed


def _set_vmap_fallback_enabled(enabled: bool) -> None:
    """Say whether ops without a rule for batches are computed example by example, or raise."""
    fallback.warnings_shown().allowed = enabled


def is_batchedtensor(tensor: Any) -> bool:
    """Return whether a tensor stands for one example of a batch."""
    return is_batched(tensor)


def is_legacy_batchedtensor(tensor: Any) -> bool:
    """Return whether a tensor is batched in the way before `torch.func`: False."""
    return False


def is_functorch_wrapped_tensor(tensor: Any) -> bool:
    """Return whether a transform wraps a tensor."""
    return is_batched(tensor)


def get_unwrapped(tensor: Any) -> Any:
    """Return the tensor inside of a wrapper; RuntimeError for one that is not wrapped."""
    if not is_batched(tensor):
        raise RuntimeError("No wrappers present!")
    return tensor._storage.value


def maybe_get_bdim(tensor: Any) -> int:
    """Return the batch dimension of a batched tensor, -1 of another."""
    return tensor._storage.dim if is_batched(tensor) and tensor._storage.dim is not None else -1


def maybe_get_level(tensor: Any) -> int:
    """Return the level of a batched tensor, -1 of another."""
    return tensor._storage.level if is_batched(tensor) else -1


def maybe_current_level() -> int | None:
    """Return the level of the innermost open batch, None where none is."""
    batch = current()
    return None if batch is None else batch.level


def _add_batch_dim(tensor: Any, batch_dim: int, level: int) -> Any:
    """Return the tensor as examples along a dimension, at a level."""
    return wrapped(tensor, batch_dim % tensor.dim(), level)


def _remove_batch_dim(tensor: Any, level: int, batch_size: int, out_dim: int) -> Any:
    """Return the whole batch of an example at a level, its examples along `out_dim`."""
    return taken_out(tensor, out_dim, level, batch_size, "_remove_batch_dim")


def reshape_dim_into(src: int, dst: int, x: Any) -> Any:
    """Return a tensor with the dimension ``src`` merged into another one, before it; ``dst`` counts without ``src``."""
    src, dst = src % x.dim(), dst % (x.dim() - 1)
    moved = x.movedim(src, dst)
    return moved.reshape(*moved.shape[:dst], moved.shape[dst] * moved.shape[dst + 1], *moved.shape[dst + 2 :])


def reshape_dim_outof(src: int, size1: int, x: Any) -> Any:
    """Return a tensor whose dimension ``src`` is two: ``size1``, and the rest of it."""
    src %= x.dim()
    if x.shape[src] % size1:
        raise RuntimeError(f"reshape_dim_outof: {x.shape[src]} is not divisible by {size1}")
    return x.reshape(*x.shape[:src], size1, x.shape[src] // size1, *x.shape[src + 1 :])


def _unwrap_batched(tensor: Any, level: int) -> tuple[Any, int | None]:
    """Return value and batch dimension at a level."""
    return unwrapped(tensor, level)


adopt(globals())
