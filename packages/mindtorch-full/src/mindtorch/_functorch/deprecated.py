"""`torch._functorch.deprecated`: functions that warn of their new place, as the package `functorch` offers them."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from mindtorch import func
from mindtorch._functorch import make_functional as _former
from mindtorch._naming import adopt

__all__ = [
    "combine_state_for_ensemble", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "make_functional", "make_functional_with_buffers", "vjp", "vmap",
]  # fmt: skip


def _warning(function: Callable[..., Any], instead: str) -> Callable[..., Any]:
    """Return a function that does what `function` does and warns that its place is `instead`."""
    name = function.__name__

    @functools.wraps(function)
    def former(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            "We've integrated functorch into PyTorch. As the final step of the integration, "
            f"`functorch.{name}` is deprecated as of PyTorch 2.0 and will be deleted in a future version of "
            f"PyTorch >= 2.3. Please use `{instead}` instead; see the PyTorch 2.0 release notes and/or the "
            "`torch.func` migration guide for more details https://pytorch.org/docs/main/func.migrating.html",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    former.__module__ = "torch._functorch.deprecated"
    return former


vmap = _warning(func.vmap, "torch.vmap")
grad = _warning(func.grad, "torch.func.grad")
grad_and_value = _warning(func.grad_and_value, "torch.func.grad_and_value")
vjp = _warning(func.vjp, "torch.func.vjp")
jvp = _warning(func.jvp, "torch.func.jvp")
jacrev = _warning(func.jacrev, "torch.func.jacrev")
jacfwd = _warning(func.jacfwd, "torch.func.jacfwd")
hessian = _warning(func.hessian, "torch.func.hessian")
functionalize = _warning(func.functionalize, "torch.func.functionalize")
make_functional = _warning(_former.make_functional, "torch.func.functional_call")
make_functional_with_buffers = _warning(_former.make_functional_with_buffers, "torch.func.functional_call")
combine_state_for_ensemble = _warning(_former.combine_state_for_ensemble, "torch.func.stack_module_state")

adopt(globals())
