"""Meta rules of counting into bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import float64, int64
from mindtorch_storage.spec import Spec

from .checks import c_type, check, shape_text
from .extremum import check_kernel
from .rule import MetaRule, Outputs
from .support import BOOL_NAMES, COMPLEX, INTEGERS, WIDE_UNSIGNED, lacking, refuse, require


def _hist_dtype(spec: Spec, target: Any) -> str:
    return (
        "torch.histogram: input tensor and hist tensor should have the same dtype, but got input "
        f"{c_type(spec.dtype)} and "
        f"hist {c_type(target)}"
    )


def _histc(self: Spec, bins: int = 100, low: Any = 0, high: Any = 0) -> Outputs:
    check(bins > 0, lambda: f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = float(low), float(high)
    check(
        math.isfinite(low) and math.isfinite(high),
        lambda: f"torch.histc: range of [{low:g}, {high:g}] is not finite",
    )
    check(low <= high, lambda: "torch.histc: max must be larger than min")
    if self.device.type == "cpu":
        if low == high:
            check_kernel(self, "aminmax_cpu")
        refuse(self, "linspace_cpu", BOOL_NAMES | WIDE_UNSIGNED)
        refuse(self, "histogram_cpu", COMPLEX | INTEGERS)
    return Outputs(Spec.of(self.dtype, self.device, (bins,)), values=(self, bins, low, high))


histc = MetaRule(_histc, out=True, exact=_hist_dtype)
"""`histc`; the kernel gets (self, bins, low, high)."""


def _check_weight(self: Spec, weight: Spec | None) -> None:
    check(self.ndim >= 2, lambda: "torch.histogramdd: input tensor should have at least 2 dimensions")
    if weight is None:
        return
    check(
        weight.dtype is self.dtype,
        lambda: (
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got input({c_type(self.dtype)}), and weight({c_type(weight.dtype)})"
        ),
    )
    check(
        tuple(weight.shape) == tuple(self.shape[:-1]),
        lambda: (
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {shape_text(self.shape)} and weight with "
            "shape "
            f"{shape_text(weight.shape)}"
        ),
    )


def _check_dtype(self: Spec) -> None:
    require(self.dtype.name in ("float32", "float64"), self, "histogramdd")


def check_counts(self: Spec, bins: Sequence[int], weight: Spec | None) -> None:
    """Raise torch's errors for numbers of bins that do not fit `self`."""
    check(self.ndim >= 2, lambda: "torch.histogramdd: input tensor should have at least 2 dimensions")
    check(
        len(bins) == self.shape[-1],
        lambda: "histogramdd: The size of bins must be equal to the innermost dimension of the input.",
    )
    for dim, count in enumerate(bins):
        check(
            count > 0,
            lambda dim=dim, count=count: f"torch.histogram(): bins must be > 0, but got {count} for dimension {dim}",
        )
    _check_dtype(self)
    _check_weight(self, weight)


def _histogramdd(self: Spec, bins: Any, weight: Spec | None = None, density: bool = False) -> Outputs:
    check(self.ndim >= 2, lambda: "torch.histogramdd: input tensor should have at least 2 dimensions")
    check(
        len(bins) == self.shape[-1],
        lambda: "histogramdd: The size of bins must be equal to the innermost dimension of the input.",
    )
    for dim, edges in enumerate(bins):
        where = f"for dimension {dim}"
        check(
            edges.dtype is self.dtype,
            lambda edges=edges, where=where: (
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, "
                f"but got input with dtype {c_type(self.dtype)} and bins {where} with dtype {c_type(edges.dtype)}"
            ),
        )
        check(
            edges.ndim == 1,
            lambda edges=edges, where=where: (
                "torch.histogramdd: bins tensor should have one dimension, but got "
                f"{edges.ndim} dimensions in the bins tensor {where}"
            ),
        )
        check(
            edges.numel > 0,
            lambda edges=edges, where=where: (
                "torch.histogramdd: bins tensor should have at least 1 element, but got "
                f"{edges.numel} elements in the bins tensor {where}"
            ),
        )
        check(edges.numel > 1, lambda dim=dim: f"torch.histogram(): bins must be > 0, but got 0 for dimension {dim}")
    _check_weight(self, weight)
    refuse(self, "histogram_cpu", COMPLEX | INTEGERS | BOOL_NAMES)
    return Outputs(Spec.of(self.dtype, self.device, [edges.numel - 1 for edges in bins]))


histogramdd = MetaRule(_histogramdd)
"""`_histogramdd_from_bin_tensors`."""


def _bincount(self: Spec, weights: Spec | None = None, minlength: int = 0) -> Outputs:
    if not (self.dtype.name.startswith("int") or self.dtype.name == "uint8"):
        raise lacking(self.dtype, "bincount_cpu")
    check(minlength >= 0, lambda: "minlength should be >= 0")
    check(self.ndim == 1, lambda: "bincount only supports 1-d non-negative integral inputs.")
    check(
        weights is None or tuple(weights.shape) == tuple(self.shape),
        lambda: "weights should be 1-d and have the same length as input",
    )
    dtype = int64 if weights is None else weights.dtype if weights.dtype.name == "float32" else float64
    return Outputs(Spec.of(dtype, self.device, (0,)))


bincount = MetaRule(_bincount)
"""`bincount`."""
