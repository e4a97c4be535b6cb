"""`torch_npu.testing.common_methods_invocations`: arguments for tests of operators."""

from __future__ import annotations

from collections.abc import Iterator

import mindtorch as torch
from mindtorch.tensor.tensor import Tensor
from mindtorch.testing import make_tensor

__all__ = ["sample_inputs_median_custom", "sample_inputs_normal_tensor_second"]

Sample = tuple[tuple[object, ...], dict[str, object]]
"""Positional arguments and named ones."""


def _make(shape: list[int], device: str, dtype: torch.dtype, requires_grad: bool) -> Tensor:
    return make_tensor(shape, device=device, dtype=dtype, requires_grad=requires_grad)


def sample_inputs_normal_tensor_second(
    op_info: object, device: str, dtype: torch.dtype, requires_grad: bool, **kwargs: object
) -> Iterator[Sample]:
    """Return arguments of `normal`: means, and deviations that are a number or a tensor."""
    for shape, deviation in (([3, 4], 0.3), ([3, 55], 0.0), ([5, 6, 7, 8], [5, 6, 7, 8])):
        mean = _make(shape, device, dtype, requires_grad)
        if isinstance(deviation, list):
            second: object = make_tensor(deviation, device=device, dtype=dtype, low=0, requires_grad=requires_grad)
        else:
            second = deviation
        yield (mean, second), {}


def sample_inputs_median_custom(
    op_info: object, device: str, dtype: torch.dtype, requires_grad: bool, **kwargs: object
) -> Iterator[Sample]:
    """Return arguments of `median`: tensors without elements, and others with and without a dimension."""
    for shape in ([2, 0], [0, 2], [], [5], [3, 2, 1, 2]):
        for named in ({}, *({"dim": dim, "keepdim": keep} for dim in (0, -1) for keep in (False, True))):
            yield (_make(shape, device, dtype, requires_grad),), dict(named)
