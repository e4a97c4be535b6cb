"""Pooling to a given size, fractional pooling, unpooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import derivative
from .pool import no_gradient, taken


def _declare(dims: int) -> None:
    average, largest, fractional = (
        f"_adaptive_avg_pool{dims}d",
        f"adaptive_max_pool{dims}d",
        f"fractional_max_pool{dims}d",
    )

    def of_average(grad: Tensor, self: Tensor) -> Any:
        return getattr(aten, f"{average}_backward")(grad, self)

    def of_average_twice(grad: Tensor, grad_output_spec: Spec) -> Any:
        return getattr(aten, average)(grad, list(grad_output_spec.shape[-dims:]))

    def of_largest(grad: Tensor, self: Tensor, result1: Tensor) -> Any:
        return getattr(aten, f"{largest}_backward")(grad, self, result1)

    def of_fractional(
        grad: Tensor, self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int], result1: Tensor
    ) -> Any:
        return getattr(aten, f"{fractional}_backward")(grad, self, kernel_size, output_size, result1)

    def at_indices(grad: Tensor, indices: Tensor) -> Any:
        return taken(grad, indices, dims)

    derivative(average, self=of_average)
    derivative(f"{average}_backward", grad_output=of_average_twice, self=no_gradient)
    derivative(largest, self=of_largest, outputs=(0,))
    derivative(fractional, self=of_fractional, outputs=(0,))
    derivative(f"{largest}_backward {fractional}_backward", grad_output=at_indices, self=no_gradient)

    def unpooled(tangent: object, self: Tensor, *others: object) -> Any:
        return getattr(aten, f"max_unpool{dims}d")(tangent, *others)

    # where several values go to one place, the gradient goes to each of them, but the tangent is the last one's
    derivative(f"max_unpool{dims}d", self=at_indices, tangent=unpooled)


_declare(2)
_declare(3)
