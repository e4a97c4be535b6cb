"""`torch._vmap_internals`: batching under the name of the time before `torch.func`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.func import vmap
from mindtorch_dispatch.state import state

__all__ = ["vmap"]


def _vmap(
    func: Callable[..., Any],
    in_dims: int | tuple[int | None, ...] = 0,
    out_dims: int | tuple[int, ...] = 0,
    allow_none_pass_through: bool = False,
) -> Callable[..., Any]:
    """Return `func` over a batch. A result None stays None only with `allow_none_pass_through`.

    Custom functions whose own arguments are not batched may be of any kind in it, as this is no transform of `torch.func`.
    """

    @functools.wraps(func)
    def untransformed(*given: object) -> Any:
        state.transforms -= 1
        try:
            return func(*given)
        finally:
            state.transforms += 1

    batched = vmap(untransformed, in_dims, out_dims)

    def call(*args: object) -> Any:
        result = batched(*args)
        results = result if isinstance(result, tuple) else (result,)
        if not allow_none_pass_through and any(one is None for one in results):
            raise ValueError(
                f"vmap({func.__name__}, ...): `{func.__name__}` must only return Tensors, got type NoneType"
            )
        return result

    return call


adopt(globals())
