"""Autocast kernels of operators: inputs cast to one dtype, the call made with autocast off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_dispatch.extend.overloads import OpOverload
from mindtorch_dispatch.state import mode_set

from ..amp.casting import cast_value


def casting_kernel(op: OpOverload, device_type: str, dtype: Any) -> Callable[..., Any]:
    """Return the kernel of a device type's autocast key."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        cast = [cast_value(value, device_type, dtype) for value in args]
        named = {name: cast_value(value, device_type, dtype) for name, value in kwargs.items()}
        with mode_set(autocast=None):
            return op(*cast, **named)

    return kernel
