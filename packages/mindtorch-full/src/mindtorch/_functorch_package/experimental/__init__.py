"""`functorch.experimental`: names whose place is `torch.func`."""

import functools
from collections.abc import Callable
from typing import Any

from mindtorch._functorch.vmap import _process_batched_inputs
from mindtorch.func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_, vmap
from mindtorch.func._vmap import check_randomness

__all__ = ["chunk_vmap", "functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_"]


def chunk_vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", chunks: int = 2
) -> Callable[..., Any]:
    """Return what `torch.func.vmap` does, for the examples in at most ``chunks`` parts, one after another."""
    check_randomness(randomness)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if chunks < 1:
            raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
        size = _process_batched_inputs(in_dims, args, func)[0]
        return vmap(func, in_dims, out_dims, randomness, chunk_size=max(-(-size // chunks), 1))(*args, **kwargs)

    return wrapped


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module 'functorch.experimental' has no attribute '{name}'")
