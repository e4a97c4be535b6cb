"""Reductions, scans, orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.backend.arrays import DeviceArray, new_array
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.dtypes import code_of
from mindtorch_npu.backend.register import aclnn, written


def _one(dims: Sequence[int]) -> int:
    """Return the only dimension of a normalised list; 0 for a tensor without dimensions."""
    return dims[0] if dims else 0


def _whole(x: DeviceArray, axis: int | None, keep: bool) -> tuple[Any, int, bool]:
    """Return the operands of an index of an extremum; over all elements it is that of the flat tensor."""
    if axis is not None:
        return x, axis, keep
    packed = x.packed()
    return DeviceArray(packed.storage, (x.size,), x.dtype, (1,), packed.offset), 0, False


def _steps(correction: float) -> int:
    """Return the correction, which the operator takes as a whole number."""
    if correction != int(correction):
        raise NotImplementedError(f"npu: a correction of {correction} is no whole number")
    return int(correction)


aclnn(("sum", "sum.dim_IntList"), "ReduceSum")
aclnn("nansum", "ReduceNansum")
aclnn(("mean", "mean.dim"), "Mean")
aclnn(("all", "all.dims", "all.dim"), "All")
aclnn(("any", "any.dims", "any.dim"), "Any")
aclnn("amax", "Amax")
aclnn("amin", "Amin")
aclnn("aminmax", "Aminmax")
aclnn("max", "Max")
aclnn("min", "Min")
aclnn("max.dim", "MaxDim", adapt=lambda x, dims, keep: (x, _one(dims), keep))
aclnn("linalg_vector_norm", "LinalgVectorNorm", adapt=lambda x, order, dims, keep: (x, float(order), dims, keep))
aclnn("logsumexp", "LogSumExp")
aclnn("cumsum", "Cumsum")
aclnn("cumprod", "Cumprod")
aclnn("cummax", "Cummax")
aclnn("cummin", "Cummin")
aclnn(("sort", "sort.stable"), "Sort", adapt=lambda x, axis, descending: (x, True, axis, descending))
aclnn("topk", "Topk", adapt=lambda x, k, axis, largest, _sorted: (x, k, axis, largest, True))
aclnn("trace", "Trace")
aclnn("argmax", "ArgMax", adapt=lambda x, axis, keep: _whole(x, axis, keep))
aclnn("argmin", "ArgMin", adapt=lambda x, axis, keep: _whole(x, axis, keep))
aclnn("var.correction", "VarCorrection", adapt=lambda x, dims, correction, keep: (x, dims, _steps(correction), keep))
aclnn("std.correction", "Std", adapt=lambda x, dims, correction, keep: (x, dims, _steps(correction), keep))
aclnn("var_mean.correction", "VarMean", adapt=lambda x, dims, correction, keep: (x, dims, _steps(correction), keep))
aclnn(
    "std_mean.correction",
    "StdMeanCorrection",
    adapt=lambda x, dims, correction, keep: (x, dims, _steps(correction), keep),
)
aclnn("median.dim", "MedianDim", adapt=lambda x, dims, keep: (x, _one(dims), keep))
aclnn("median", "Median")


def _prod(out: DeviceArray, self: DeviceArray, dims: Sequence[int], keep: bool) -> None:
    """The operators multiply over one dimension, or over all."""
    if len(dims) == 1:
        launch("aclnnProdDim", [self, dims[0], keep, code_of(out.dtype), out])
    else:
        launch("aclnnProd", [self, code_of(out.dtype), out])


written(("prod", "prod.dim_int"), "ProdDim", _prod)


def _least(outs: Sequence[DeviceArray], self: DeviceArray, dims: Sequence[int], keep: bool) -> None:
    """The operator gives int32 indices where the row has int64."""
    value, where = outs
    if value.size:
        narrow = new_array(where.shape, np.dtype(np.int32), where.device)
        launch("aclnnMinDim", [self, _one(dims), keep, value, narrow])
        launch("aclnnInplaceCopy", [where, narrow])


written("min.dim", "MinDim", _least)
