"""Padding of the last dimensions."""

from mindtorch._tensor import Tensor
from mindtorch.ops_table import aten


def pad(input: Tensor, pad: list[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad by ``pad``, two numbers per dimension, last dimension first.

    ``mode`` is constant (with ``value``, 0), reflect, replicate or circular.

    >>> torch.nn.functional.pad(torch.tensor([[1., 2.]]), (1, 1), value=9.)
    tensor([[9., 1., 2., 9.]])
    >>> torch.nn.functional.pad(torch.tensor([[1., 2., 3.]]), (1, 1), mode="reflect")
    tensor([[2., 1., 2., 3., 2.]])
    """
    return aten.pad(input, pad, mode, value)
