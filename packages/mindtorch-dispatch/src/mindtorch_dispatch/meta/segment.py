"""Meta rules of reductions of runs of elements."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.spec import Spec

from ..typing import Scalar
from .checks import check, wrap_dim
from .rule import MetaRule, Outputs
from .support import BOOL_NAMES, COMPLEX, FLOATS, INTEGERS, refuse

_REDUCTIONS = ("sum", "mean", "max", "min", "prod", "amax", "amin")


def _check_reduction(reduce: str) -> None:
    check(
        reduce in _REDUCTIONS,
        lambda: f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}",
    )


def _segment_reduce(
    data: Spec,
    reduce: str,
    lengths: Spec | None = None,
    indices: Spec | None = None,
    offsets: Spec | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Scalar | None = None,
) -> Outputs:
    dim = wrap_dim(axis, data.ndim)
    check(indices is None, lambda: "segment_reduce(): indices based reduction is not supported yet.")
    check(
        lengths is not None or offsets is not None,
        lambda: "segment_reduce(): Either lengths or offsets must be defined.",
    )
    _check_reduction(reduce)
    runs: Any = lengths if lengths is not None else offsets
    name = "lengths" if lengths is not None else "offsets"
    check(
        runs.ndim - 1 == dim,
        lambda: f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.",
    )
    refuse(runs, f"_segment_reduce_{name}_cpu_kernel1", FLOATS | COMPLEX | BOOL_NAMES)
    refuse(data, "_segment_reduce_cpu", INTEGERS | COMPLEX | BOOL_NAMES)
    count = runs.shape[-1] if lengths is not None else runs.shape[-1] - 1
    shape = (*data.shape[:dim], count, *data.shape[dim + 1 :])
    values = (data, reduce.removeprefix("a"), lengths, None, offsets, dim, unsafe, initial)
    return Outputs(Spec.of(data.dtype, data.device, shape), values=values)


segment_reduce = MetaRule(_segment_reduce, out=True)
"""`segment_reduce`."""


def _segment_reduce_backward(grad: Spec, output: Spec, data: Spec, reduce: str, *rest: Any) -> Outputs:
    lengths, offsets, axis, initial = rest
    _check_reduction(reduce)
    values = (grad, output, data, reduce.removeprefix("a"), lengths, offsets, wrap_dim(axis, data.ndim), initial)
    return Outputs(Spec.of(data.dtype, data.device, data.shape), values=values)


segment_reduce_backward = MetaRule(_segment_reduce_backward)
"""`_segment_reduce_backward`."""
