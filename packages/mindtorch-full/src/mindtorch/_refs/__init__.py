"""`torch._refs`: torch's references of operations in Python. Here each is the operation itself.

An operation that is made of others is a decomposition already, so there is nothing for a second definition to explain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import missing_attribute
from mindtorch._refs import _conversions as _conversions
from mindtorch._refs import _reductions
from mindtorch._refs import fft as fft
from mindtorch._refs import linalg as linalg
from mindtorch._refs import nn as nn
from mindtorch._refs import special as special
from mindtorch._refs._bind import bind, functional
from mindtorch._refs._names import IN_PLACE, REFS


def alias(a: Any) -> Any:
    """Return a view of all of a tensor."""
    return torch.ops.aten.alias(a)


def copy_to(a: Any, b: Any, *, allow_cross_device: bool = True) -> Any:
    """Copy ``b`` into ``a``. Raises RuntimeError across devices where that is not allowed."""
    if not allow_cross_device and a.device != b.device:
        raise RuntimeError(
            f"Attempting to copy from device {b.device} to device {a.device}, but cross-device copies are not allowed!"
        )
    return a.copy_(b)


def _broadcast_shapes(*shapes: Sequence[int] | int | None) -> list[int] | None:
    """Return the sizes that shapes have together; None among them is passed over, and None is that of no shapes.

    Raises:
        RuntimeError: two sizes of a dimension differ, and neither is 1.
        ValueError: a size is negative.
    """
    given = [(one,) if isinstance(one, int) else tuple(one) for one in shapes if one is not None]
    if not given:
        return None
    common = [1] * max(map(len, given))
    for number, shape in enumerate(given):
        for place in range(-1, -1 - len(shape), -1):
            size = shape[place]
            if common[place] == 1:
                if size < 0:
                    raise ValueError("Attempting to broadcast a dimension with negative length!")
                common[place] = size
            elif size not in (1, common[place]):
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {size} at {place}! "
                    f"Mismatching argument at index {number} had {shape}; but expected shape should be broadcastable to {common}"
                )
    return common


def rpow(a: Any, b: Any) -> Any:
    """Return ``b`` to the power of ``a``."""
    return torch.pow(b, a)


def rtruediv(a: Any, b: Any) -> Any:
    """Return ``b`` divided by ``a``."""
    return torch.true_divide(b, a)


def rfloordiv(a: Any, b: Any) -> Any:
    """Return the floor of ``b`` divided by ``a``."""
    return torch.floor_divide(b, a)


def trunc_divide(a: Any, b: Any) -> Any:
    """Return ``a`` divided by ``b``, rounded towards zero."""
    return torch.div(a, b, rounding_mode="trunc")


__all__ = sorted(
    {
        "_conversions",
        "alias",
        "copy_to",
        "fft",
        "linalg",
        "nn",
        "rfloordiv",
        "rpow",
        "rtruediv",
        "special",
        "trunc_divide",
        *bind(globals(), REFS, _reductions, torch, functional),
        *bind(globals(), [f"{name}_" for name in IN_PLACE], torch),
    }
)
swap_axes = torch.swapaxes
__getattr__ = missing_attribute(__name__)
