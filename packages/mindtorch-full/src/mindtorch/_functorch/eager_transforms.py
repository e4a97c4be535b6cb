"""`torch._functorch.eager_transforms`: the transforms of `torch.func` under their former home."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.func import grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from mindtorch.func._levels import checked_argnums, chosen

__all__ = ["grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]


def _as_tuple(val: Any) -> tuple[Any, ...]:
    """Return a tuple as it is, anything else as the one entry of a tuple."""
    return val if isinstance(val, tuple) else (val,)


def _slice_argnums(args: tuple[Any, ...], argnums: int | tuple[int, ...], as_tuple: bool = True) -> Any:
    """Return the arguments at these places; one argument of itself where ``as_tuple`` is off."""
    if not isinstance(argnums, int) and not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    checked_argnums(argnums, len(args))
    found = chosen(args, argnums)
    return (found,) if isinstance(argnums, int) and as_tuple else found


adopt(globals())
