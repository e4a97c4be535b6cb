"""Padding of the last dimensions."""

from mindtorch._tensor import Tensor
from mindtorch.ops_table import aten


def pad(input: Tensor, pad: list[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad by ``pad``, two numbers per dimension, last dimension first.

    ``mode`` is constant (with ``value``, 0), reflect, replicate or circular.
    """
    return aten.pad(input, pad, mode, value)
