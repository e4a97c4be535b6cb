"""Operators of one tensor with a mask."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from ._elements import data_and_mask, names_in_place, on_elements, packets
from .core import _wrap_result

__all__: list[str] = []

UNARY_NAMES = (
    "abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh arctanh bitwise_not ceil "
    "clamp clip conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac lgamma log log10 "
    "log1p log2 logit i0 isnan nan_to_num neg negative positive pow rad2deg reciprocal round rsqrt sigmoid sign sgn "
    "signbit sin sinc sinh sqrt square tan tanh trunc"
).split()
INPLACE_UNARY_NAMES = names_in_place(UNARY_NAMES, {"angle", "positive", "signbit", "isnan"})
UNARY_NAMES_UNSUPPORTED = (
    "atan2 arctan2 bitwise_left_shift bitwise_right_shift copysign float_power fmod frexp gradient imag ldexp lerp "
    "logical_not hypot igamma igammac mvlgamma nextafter polygamma real remainder true_divide xlogy"
).split()
NATIVE_UNARY_FNS = packets(UNARY_NAMES)
NATIVE_INPLACE_UNARY_FNS = packets(INPLACE_UNARY_NAMES)
_IN_PLACE = frozenset(NATIVE_INPLACE_UNARY_FNS)
_ALL = _IN_PLACE | frozenset(NATIVE_UNARY_FNS)


def _is_native_unary(fn: Any) -> bool:
    return fn in _ALL


def _apply_native_unary(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the operator of the data, with the mask; NotImplemented for others than those of this file."""
    if fn not in _ALL:
        return NotImplemented
    if kwargs:
        raise ValueError(
            "MaskedTensor unary ops require that len(kwargs) == 0. "
            "If you need support for this, please open an issue on Github."
        )
    if any(torch.is_tensor(one) for one in args[1:]):
        raise TypeError("MaskedTensor unary ops do not support additional Tensor arguments")
    data, mask = data_and_mask(args, kwargs)
    if data[0].layout is torch.sparse_coo:
        data[0] = data[0].coalesce()
    values = [data[0] if data[0].layout is torch.strided else data[0].values(), *data[1:]]
    result = on_elements(fn, data, values)
    if fn not in _IN_PLACE:
        return _wrap_result(result, mask)
    args[0]._set_data_mask(result, mask)
    return args[0]


adopt(globals())
