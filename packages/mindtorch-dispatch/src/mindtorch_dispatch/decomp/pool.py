"""Pooling in one dimension, as pooling of rows; `max_pool` without its indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..call import aten
from ..meta.checks import check, shape_text
from ..meta.pool import output_extent
from ..meta.support import require_floating
from ..state import state
from ..typing import Tensor
from .view import unlinked


def check_rows(self: Tensor, name: str) -> None:
    """Raise torch's error unless `self` has two or three dimensions."""
    count = len(self.shape)
    check(
        count in (2, 3),
        lambda: (
            f"Expected 2 to 3 dimensions, but got {count}-dimensional tensor for argument #1 'self' (while checking "
            f"arguments for {name})"
        ),
    )


def check_one(values: Any, name: str, argument: str) -> int:
    """Return the only value of a list; torch's error when there are others."""
    check(len(values) == 1, lambda: f"{name}() argument '{argument}' should contain one int (got {len(values)})")
    found: int = values[0]
    return found


def max_pool(dims: int) -> Callable[..., Any]:
    """Return `max_pool{dims}d`."""

    def call(
        self: Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil_mode: bool,
    ) -> Any:
        with_indices = getattr(aten, f"max_pool{dims}d_with_indices")
        return with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]

    return call


def _max_pool_rows(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Any, Any]:
    """Maxima of windows of rows as images one row high, and where they were."""
    steps = stride or kernel_size
    check_rows(self, "max_pool1d")
    for argument, values in (
        ("kernel_size", kernel_size),
        ("stride", steps),
        ("padding", padding),
        ("dilation", dilation),
    ):
        check_one(values, "max_pool1d", argument)
    found: tuple[Any, Any] = aten.max_pool2d_with_indices(
        aten.unsqueeze(self, -2), [1, kernel_size[0]], [1, steps[0]], [0, padding[0]], [1, dilation[0]], ceil_mode
    )
    return found


def max_pool1d_with_indices(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Any, Any]:
    """Maxima of windows of rows, and where they were."""
    values, indices = _max_pool_rows(self, kernel_size, stride, padding, dilation, ceil_mode)
    return aten.squeeze(values, -2), aten.squeeze(indices, -2)


_SINGLE = {
    "kernel_size": "an int, list of ints or tuple of ints",
    "stride": "None, an int, list of ints, or tuple of ints",
    "padding": "an int, list of ints, or tuple of ints",
    "dilation": "an int, list of ints or tuple of ints",
}


def _check_max_pool1d(self: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> None:
    shape = tuple(self.shape)
    check(
        len(shape) in (2, 3) and 0 not in (shape if len(shape) == 2 else shape[1:]),
        lambda: (
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{shape_text(shape)}"
        ),
    )
    for name, values in (("kernel_size", kernel), ("stride", stride), ("padding", padding), ("dilation", dilation)):
        check(
            len(values) == 1 or (name == "stride" and not values),
            lambda name=name, values=values: (
                f"max_pool1d() {name} must be {_SINGLE[name]} of size 1 but got size {len(values)}"
            ),
        )
    size, step, pad, gap = kernel[0], (stride or kernel)[0], padding[0], dilation[0]
    check(size > 0, lambda: f"max_pool1d() kernel_size must be greater than zero, but got {size}")
    check(step > 0, lambda: f"max_pool1d() stride must be greater than zero, but got {step}")
    check(pad >= 0, lambda: f"max_pool1d() padding must be non-negative, but got {pad}")
    check(
        pad <= size // 2,
        lambda: (
            f"max_pool1d() padding should be at most half of kernel size, but got padding={pad} and kernel_size={size}"
        ),
    )
    check(gap > 0, lambda: f"max_pool1d() dilation must be greater than zero, but got {gap}")
    extent = output_extent(shape[-1], size, step, pad, gap, ceil_mode)
    check(extent > 0, lambda: f"max_pool1d() Invalid computed output size: {extent}")
    require_floating(self, "max_pool1d_impl")


def max_pool1d(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> Any:
    """Maxima of windows of rows."""
    _check_max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode)
    values = _max_pool_rows(self, kernel_size, stride, padding, dilation, ceil_mode)[0]
    # A view only where its history is kept, as in torch.
    rows = aten.squeeze(values, -2)
    return rows if self._sig.requires_grad and state.mode.grad else unlinked(rows)


def avg_pool1d(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
) -> Any:
    """Means of windows of rows."""
    steps = stride or kernel_size
    check_rows(self, "avg_pool1d")
    for argument, values in (("kernel_size", kernel_size), ("stride", steps), ("padding", padding)):
        check_one(values, "avg_pool1d", argument)
    result = aten.avg_pool2d(
        aten.unsqueeze(self, -2), [1, kernel_size[0]], [1, steps[0]], [0, padding[0]], ceil_mode, count_include_pad
    )
    return aten.squeeze(result, -2)
