"""`torch._prims.context`: torch's operations as references. They are the same here, so nothing is replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.overrides import TorchFunctionMode

__all__ = ["TorchRefsMode"]


class TorchRefsMode(TorchFunctionMode):
    """A mode in which operations are the references, which they are."""

    def __init__(
        self,
        strict: bool = False,
        should_fallback_fn: Callable[..., bool] = lambda *_: False,
        prims_mode_cls: Any = None,
    ) -> None:
        self.strict = strict
        self.should_fallback_fn = should_fallback_fn
        self.prims_mode_cls = prims_mode_cls

    def __torch_function__(self, orig_func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return orig_func(*args, **(kwargs or {}))


adopt(globals())
