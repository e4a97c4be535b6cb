"""`torch.cuda.amp.autocast` and its kin: old names of `torch.amp`, which warn."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

from mindtorch import amp
from mindtorch._naming import adopt
from mindtorch_storage.dtype import dtype as DType
from mindtorch_storage.dtype import float16

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


def _warn(name: str, instead: str) -> None:
    warnings.warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{instead}` instead.",
        FutureWarning,
        stacklevel=3,
    )


class autocast(amp.autocast):
    """`torch.amp.autocast("cuda", ...)`.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> with torch.cuda.amp.autocast():
    ...     print(torch.is_autocast_enabled("cuda"))
    False
    """

    def __init__(self, enabled: bool = True, dtype: DType = float16, cache_enabled: bool = True) -> None:
        _warn("autocast", "autocast('cuda', args...)")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: DType | None = None) -> Any:
    """Return `torch.amp.custom_fwd(..., device_type="cuda")`.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.cuda.amp.custom_fwd
    ...     def forward(ctx, x):
    ...         return 2 * x
    >>> Double.apply(torch.ones(1))
    tensor([2.])
    """
    _warn("custom_fwd", "custom_fwd(args..., device_type='cuda')")
    return functools.partial(amp.custom_fwd, device_type="cuda")(fwd=fwd, cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Any:
    """Return `torch.amp.custom_bwd(..., device_type="cuda")`.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.cuda.amp.custom_fwd
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     @torch.cuda.amp.custom_bwd
    ...     def backward(ctx, grad):
    ...         return 2 * grad
    >>> x = torch.ones(1, requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor([2.])
    """
    _warn("custom_bwd", "custom_bwd(args..., device_type='cuda')")
    return functools.partial(amp.custom_bwd, device_type="cuda")(bwd)


adopt(globals())
