"""Arithmetic as a module."""

from typing import Any, NoReturn

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn import Identity, Module
from mindtorch.nn.functional import relu

__all__ = ["FloatFunctional"]


class FloatFunctional(Module):
    """Operations whose results pass `activation_post_process`, where quantization would observe them."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Any) -> NoReturn:
        """Raise: the operations are methods."""
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x: Tensor, y: Tensor) -> Any:
        """Return the sum."""
        return self.activation_post_process(torch.add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Any:
        """Return the sum with a number; it is not observed."""
        return torch.add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Any:
        """Return the product."""
        return self.activation_post_process(torch.mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Any:
        """Return the product with a number; it is not observed."""
        return torch.mul(x, y)

    def cat(self, x: list[Tensor], dim: int = 0) -> Any:
        """Return the tensors joined along a dimension."""
        return self.activation_post_process(torch.cat(x, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Any:
        """Return the sum's positive part."""
        return self.activation_post_process(relu(torch.add(x, y)))

    def matmul(self, x: Tensor, y: Tensor) -> Any:
        """Return the matrix product."""
        return self.activation_post_process(torch.matmul(x, y))


adopt(globals())
