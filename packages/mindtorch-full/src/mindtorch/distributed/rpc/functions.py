"""`torch.distributed.rpc.functions`: marks of functions that other processes call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt


def async_execution(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return `fn`, marked as one whose result is a future: the caller waits for what that becomes."""

    @functools.wraps(fn)
    def marked(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    marked.__dict__["_wrapped_async_rpc_function"] = fn
    return marked


adopt(globals())
