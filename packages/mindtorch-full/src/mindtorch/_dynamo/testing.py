"""`torch._dynamo.testing`: of the helpers of tests of a tracer, those that need none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch as torch
from mindtorch._dynamo import reset as reset
from mindtorch._naming import adopt

__all__ = ["rand_strided"]


def rand_strided(
    size: Sequence[int],
    stride: Sequence[int],
    dtype: torch.dtype = torch.float32,
    device: Any = "cpu",
    extra_size: int = 0,
) -> torch.Tensor:
    """Return a tensor of random numbers with these strides; its memory has ``extra_size`` elements more than needed."""
    needed = sum((length - 1) * step for length, step in zip(size, stride, strict=True)) + 1 + extra_size
    if dtype.is_floating_point or dtype.is_complex:
        memory = torch.randn(needed, dtype=dtype, device=device)
    else:
        memory = torch.zeros(needed, dtype=dtype, device=device)
    return torch.as_strided(memory, size, stride)


adopt(globals())
