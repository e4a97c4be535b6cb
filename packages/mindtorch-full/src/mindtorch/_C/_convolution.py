"""Which way a convolution is computed, as tests ask `torch._C` for it."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from mindtorch._naming import adopt
from mindtorch_storage.tensor_base import TensorBase

__all__ = ["_ConvBackend", "_select_conv_backend"]


class _ConvBackend(enum.Enum):
    """The ways that torch has; on the CPU without oneDNN those that begin with `Slow`, and `Empty`."""

    CudaDepthwise2d = 0
    CudaDepthwise3d = 1
    Cudnn = 2
    CudnnTranspose = 3
    Empty = 4
    Miopen = 5
    MiopenDepthwise = 6
    MiopenTranspose = 7
    Mkldnn = 8
    MkldnnEmpty = 10
    NnpackSpatial = 11
    Overrideable = 12
    Slow2d = 13
    Slow3d = 14
    SlowDilated2d = 15
    SlowDilated3d = 16
    SlowTranspose2d = 17
    SlowTranspose3d = 18
    Winograd3x3Depthwise = 19
    Xnnpack2d = 20
    Mps = 21


def _select_conv_backend(
    input: TensorBase,
    weight: TensorBase,
    bias: TensorBase | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    bias_sizes: Sequence[int] | None = None,
) -> _ConvBackend:
    """Return the way of a convolution on the CPU; one dimension is computed as two."""
    if not input.shape[0] or not input.shape[1]:
        return _ConvBackend.Empty
    rank = "3d" if input.dim() == 5 else "2d"
    dilated = any(step != 1 for step in dilation)
    return _ConvBackend[f"Slow{'Transpose' if transposed else 'Dilated' if dilated else ''}{rank}"]


adopt(globals())
