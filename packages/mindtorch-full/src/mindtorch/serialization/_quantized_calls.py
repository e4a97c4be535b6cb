"""The call of a file that makes a quantized tensor, with its arguments looked at."""

import pickle
from typing import Any

import mindtorch
from mindtorch.serialization._calls import (
    CALLERS,
    Budget,
    Call,
    _check_dense,
    _check_geometry,
    _check_hooks,
)
from mindtorch.serialization._kinds import check
from mindtorch_storage.qscheme import qscheme as QScheme
from mindtorch_storage.quantized import PER_TENSOR


def check_quantizer(parameters: Any, rank: int) -> None:
    """Refuse what is no quantizer of a tensor of so many dimensions."""
    check("the quantizer of a tensor", parameters, tuple)
    scheme, *rest = parameters
    check("the scheme of a quantizer", scheme, QScheme)
    if scheme is PER_TENSOR:
        scale, zero_point = rest
        check("a scale", scale, float, int)
        check("a zero point", zero_point, int)
        return
    scales, zero_points, axis = rest
    _check_dense("the scales of a quantizer", scales)
    _check_dense("the zero points of a quantizer", zero_points)
    if scales.dim() != 1 or zero_points.dim() != 1:
        raise pickle.UnpicklingError("expected scales and zero points of one dimension")
    check("an axis", axis, int)
    if not 0 <= axis < rank:
        raise pickle.UnpicklingError("expected the axis of a quantizer to be a dimension of its tensor")


def _rebuild_qtensor(
    budget: Budget,
    call: Call,
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    parameters: Any,
    requires_grad: Any,
    hooks: Any,
) -> Any:
    _check_geometry(storage, offset, size, stride)
    check_quantizer(parameters, len(size))
    check("requires_grad", requires_grad, bool)
    _check_hooks(hooks)
    return mindtorch._utils._rebuild_qtensor(storage, offset, size, stride, parameters, requires_grad, None)


CALLERS["torch._utils._rebuild_qtensor"] = _rebuild_qtensor
