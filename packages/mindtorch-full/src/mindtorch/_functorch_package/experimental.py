"""`functorch.experimental`: names whose place is `torch.func`."""

from typing import Any

from mindtorch.func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_

__all__ = ["functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_"]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module 'functorch.experimental' has no attribute '{name}'")
