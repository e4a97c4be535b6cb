"""Pooling to a given size: of rows as of one-row planes; to one position as a mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.strides import suggests_channels_last, suggests_channels_last_3d

from ..call import aten
from ..meta.adaptive_pool import check_average_size
from ..meta.checks import check, shape_text
from ..typing import Tensor
from .pool import check_one, check_rows


def average1d(self: Tensor, output_size: Sequence[int]) -> Any:
    """`adaptive_avg_pool1d`."""
    check_rows(self, "adaptive_avg_pool1d")
    check_one(output_size, "adaptive_avg_pool1d", "output_size")
    return aten.squeeze(aten.adaptive_avg_pool2d(aten.unsqueeze(self, -2), [1, output_size[0]]), -2)


def largest1d(self: Tensor, output_size: Sequence[int]) -> tuple[Any, Any]:
    """`adaptive_max_pool1d`."""
    check_rows(self, "adaptive_max_pool1d")
    check_one(output_size, "adaptive_max_pool1d", "output_size")
    for dim in range(1, len(self.shape)):
        check(
            self.shape[dim] > 0,
            lambda dim=dim: (
                "adaptive_max_pool1d(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {shape_text(self.shape)} with dimension {dim} being empty"
            ),
        )
    values, indices = aten.adaptive_max_pool2d(aten.unsqueeze(self, -2), [1, output_size[0]])
    return aten.squeeze(values, -2), aten.squeeze(indices, -2)


def average(dims: int) -> Callable[..., Any]:
    """Return `adaptive_avg_pool{dims}d`."""
    last = suggests_channels_last if dims == 2 else suggests_channels_last_3d

    def call(self: Tensor, output_size: Sequence[int]) -> Any:
        check_average_size(output_size, dims)
        if any(extent != 1 for extent in output_size):
            return getattr(aten, f"_adaptive_avg_pool{dims}d")(self, output_size)
        spec = self._sig.spec
        out = aten.mean(self, list(range(-dims, 0)), True)
        if spec.ndim == dims + 2 and last(spec.shape, spec.stride):
            count, channels = spec.shape[:2]
            return aten.as_strided(out, [count, channels, *[1] * dims], [channels, 1, *[channels] * dims])
        return out

    def into(out: Tensor, self: Tensor, output_size: Sequence[int]) -> Any:
        return getattr(aten, f"_adaptive_avg_pool{dims}d")(self, output_size, out=out)

    call.into = into  # type: ignore[attr-defined]  # torch's `out=` form has no mean for one position
    return call
