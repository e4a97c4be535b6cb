"""`torch._vmap_internals`: batching under the name of the time before `torch.func`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.func import vmap as _batched
from mindtorch.utils._pytree import _broadcast_to_and_flatten, tree_flatten
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import state
from mindtorch_storage.tensor_base import TensorBase

__all__ = ["vmap"]


def vmap(
    func: Callable[..., Any], in_dims: int | tuple[Any, ...] = 0, out_dims: int | tuple[int, ...] = 0
) -> Callable[..., Any]:
    """Return `func` over a batch, with a warning that `torch.vmap` is its place."""
    warnings.warn(
        "Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.", category=FutureWarning, stacklevel=2
    )
    return _vmap(func, in_dims, out_dims)


def _vmap(
    func: Callable[..., Any],
    in_dims: int | tuple[Any, ...] = 0,
    out_dims: int | tuple[int, ...] = 0,
    allow_none_pass_through: bool = False,
) -> Callable[..., Any]:
    """Return `func`, which gives a tensor or a tuple of tensors, over a batch.

    A result None stays None only with `allow_none_pass_through`. Custom functions whose own arguments are not batched may be
    of any kind in it, as this is no transform of `torch.func`.
    """
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def call(*args: object) -> Any:
        found: list[Any] = []
        _check_places(args, in_dims, name)

        def mapped(*given: object) -> tuple[Any, ...]:
            state.transforms -= 1
            try:
                result = func(*given)
            finally:
                state.transforms += 1
            found[:] = [result]
            _check_results(result, name, allow_none_pass_through)
            _dims(result, out_dims, name)
            return tuple(one for one in _as_tuple(result) if one is not None)

        mapped.__name__ = name
        made = iter(_batched(mapped, in_dims)(*args))
        results = tuple(
            None if one is None else aten.movedim(next(made), 0, dim)
            for one, dim in zip(_as_tuple(found[0]), _dims(found[0], out_dims, name), strict=True)
        )
        return results if isinstance(found[0], tuple) else results[0]

    return call


def _check_places(args: tuple[Any, ...], in_dims: Any, name: str) -> None:
    """Raise torch's error where a dimension is not one of the input's; here they count from the front alone."""
    flat, spec = tree_flatten(args)
    for one, dim in zip(flat, _broadcast_to_and_flatten(in_dims, spec) or (), strict=False):
        if isinstance(one, TensorBase) and isinstance(dim, int) and not 0 <= dim < len(one.shape):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, but that input is a Tensor "
                f"of dimensionality {len(one.shape)} so expected in_dim to satisfy 0 <= in_dim < {len(one.shape)}."
            )


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def _check_results(result: Any, name: str, allow_none: bool) -> None:
    if not isinstance(result, tuple) and (isinstance(result, TensorBase) or (allow_none and result is None)):
        return
    start = f"vmap({name}, ...): `{name}` must only return Tensors, got type "
    if not isinstance(result, tuple):
        raise ValueError(f"{start}{type(result)} as the return.")
    for place, one in enumerate(result):
        if not (isinstance(one, TensorBase) or (allow_none and one is None)):
            raise ValueError(f"{start}{type(one)} for return {place}.")


def _dims(result: Any, out_dims: Any, name: str) -> tuple[int, ...]:
    """Return where the batch goes in each result."""
    number = len(_as_tuple(result))
    if isinstance(out_dims, int):
        return (out_dims,) * number
    start = f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must "
    if not isinstance(out_dims, tuple) or any(not isinstance(one, int) for one in out_dims):
        raise ValueError(
            f"{start}be an int or a tuple of int representing where in the outputs the vmapped dimension should appear."
        )
    if len(out_dims) != number:
        raise ValueError(f"{start}have one dim per output (got {number} outputs) of {name}.")
    return out_dims


adopt(globals())
