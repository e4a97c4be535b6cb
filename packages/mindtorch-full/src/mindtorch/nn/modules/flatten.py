"""Layers that join and split dimensions."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.modules.module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Joins the dimensions ``start_dim`` to ``end_dim`` into one.

    >>> torch.nn.Flatten()(torch.ones(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    __constants__ = ["start_dim", "end_dim"]
    start_dim: int
    end_dim: int

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the flattened input."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Return the range of dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits the dimension ``dim`` into ``unflattened_size``.

    >>> torch.nn.Unflatten(1, (2, 3))(torch.ones(1, 6)).shape
    torch.Size([1, 2, 3])
    """

    __constants__ = ["dim", "unflattened_size"]
    dim: int | str

    def __init__(self, dim: int | str, unflattened_size: Any) -> None:
        super().__init__()
        self._require_tuple_int(unflattened_size)
        self.dim = dim
        self.unflattened_size = unflattened_size

    def _require_tuple_int(self, size: Any) -> None:
        if not isinstance(size, (tuple, list)):
            raise TypeError("unflattened_size must be a tuple of ints, " + f"but found type {type(size).__name__}")
        for index, element in enumerate(size):
            if not isinstance(element, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, "
                    + f"but found element of type {type(element).__name__} at pos {index}"
                )

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with ``dim`` split."""
        return input.unflatten(self.dim, self.unflattened_size)  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        """Return the dimension and its new sizes."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


adopt(globals())
