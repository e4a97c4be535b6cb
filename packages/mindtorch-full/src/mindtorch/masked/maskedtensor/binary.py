"""Operators of two tensors, of which one or both have masks."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from ._elements import data_and_mask, names_in_place, on_elements, packets
from .core import _masks_match, _tensors_match, _wrap_result, is_masked_tensor

__all__: list[str] = []

BINARY_NAMES = (
    "add atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift div divide "
    "floor_divide fmod logaddexp logaddexp2 mul multiply nextafter remainder sub subtract true_divide eq ne le ge "
    "greater greater_equal gt less_equal lt less maximum minimum fmax fmin not_equal"
).split()
INPLACE_BINARY_NAMES = names_in_place(BINARY_NAMES, {"logaddexp", "logaddexp2", "fmin", "minimum", "maximum", "fmax"})
NATIVE_BINARY_FNS = packets(BINARY_NAMES)
NATIVE_INPLACE_BINARY_FNS = packets(INPLACE_BINARY_NAMES)
_IN_PLACE = frozenset(NATIVE_INPLACE_BINARY_FNS)
_ALL = _IN_PLACE | frozenset(NATIVE_BINARY_FNS)


def _is_native_binary(fn: Any) -> bool:
    return fn in _ALL


def _get_at_least_one_mask(a: Any, b: Any) -> Any:
    """Return the mask that both have; TypeError where none has one, ValueError where they differ."""
    if not is_masked_tensor(a) and not is_masked_tensor(b):
        raise TypeError("At least one of `a` and `b` must be a MaskedTensor")
    if not _masks_match(a, b):
        raise ValueError("a and b must have matching masks")
    return a.get_mask() if is_masked_tensor(a) else b.get_mask()


def _check_same_places(first: Any, second: Any) -> None:
    """Raise ValueError for sparse tensors that specify different elements."""
    if first.layout is torch.sparse_coo:
        if not _tensors_match(first.indices(), second.indices()):
            raise ValueError(
                "sparse_coo indices must match. If you need support for this, please open an issue on Github."
            )
        if first.size() != second.size():
            raise ValueError("input1 and input2 must have the same size for binary functions.")
    elif first.layout is torch.sparse_csr and not (
        _tensors_match(first.crow_indices(), second.crow_indices())
        and _tensors_match(first.col_indices(), second.col_indices())
    ):
        raise ValueError("sparse_csr indices must match. If you need support for this, please open an issue on Github.")


def _values(args: list[Any]) -> list[Any]:
    """Return the arguments with the values of sparse tensors in their place."""
    first, second, *rest = args
    if first.layout is torch.strided:
        return args
    if torch.is_tensor(second) and first.layout is second.layout:
        _check_same_places(first, second)
        second = second.values()
    return [first.values(), second, *rest]


def _apply_native_binary(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the operator of the data, with the mask; NotImplemented for others than those of this file."""
    if fn not in _ALL:
        return NotImplemented
    if kwargs:
        raise ValueError("len(kwargs) must equal 0")
    if any(torch.is_tensor(one) for one in args[2:]):
        raise TypeError("MaskedTensor binary ops do not support Tensor arguments aside from the lhs and rhs")
    if not _masks_match(*args[:2]):
        raise ValueError("Input masks must match. If you need support for this, please open an issue on Github.")
    data, mask = data_and_mask(args, kwargs)
    result = on_elements(fn, data, _values(data))
    if fn in _IN_PLACE:
        args[0]._set_data_mask(result, mask)
        return args[0]
    mask = _get_at_least_one_mask(*args[:2])
    if data[0].layout is torch.strided:
        mask = mask.expand_as(result)
    return _wrap_result(result, mask)


adopt(globals())
