"""Ops over lists of tensors, made of the op on one tensor: `_foreach_add` of lists is `add` of each pair.

Every function here makes such a function out of the name of the elementwise op. The in-place ones return the list
they were given, the others a tuple, as torch's Python functions do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import memory_format as MemoryFormat
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..extend import devices
from ..meta.checks import check
from ..typing import Scalar, Tensor

Each = Callable[..., Any]
_EXTREMES = {
    "maximum": ("maximum", "clamp_min"), "maximum_": ("maximum", "clamp_min_"),
    "minimum": ("minimum", "clamp_max"), "minimum_": ("minimum", "clamp_max_"),
}  # fmt: skip
"""Op whose gradient a list has, which is shared where both are equal, and op whose numbers and refusals it has."""


def _op(name: str) -> Each:
    """Return the elementwise op, looked up when it is called, so that families load in any order."""
    if name in _EXTREMES:
        return _extreme(*_EXTREMES[name])
    return lambda *args, **kwargs: getattr(aten, name)(*args, **kwargs)


def _extreme(extreme: str, clamp: str) -> Each:
    def each(item: Tensor, other: Any) -> Any:
        number = not isinstance(other, TensorBase)
        with_gradient = item.requires_grad or (not number and other.requires_grad)
        if not with_gradient or item.dtype.is_complex or (not number and other.dtype.is_complex):
            return getattr(aten, clamp)(item, other)
        bound = aten.scalar_tensor(other, dtype=item.dtype, device=item.device) if number else other
        if clamp.endswith("_"):
            return aten.copy_(item, getattr(aten, extreme)(aten.clone(item), bound))
        return getattr(aten, extreme)(item, bound)

    return each


def _check_lists(self: Sequence[Any], *others: Sequence[Any]) -> None:
    check(len(self) > 0, lambda: "Tensor list must have at least one tensor.")
    for other in others:
        check(
            len(self) == len(other),
            lambda other=other: f"Tensor lists must have the same number of tensors, got {len(self)} and {len(other)}",
        )


def _check_scalars(self: Sequence[Any], scalars: Sequence[Any]) -> None:
    check(len(self) == len(scalars), lambda: "Tensor list must have same number of elements as scalar list.")


def _finish(self: Sequence[Tensor], results: Iterable[Any], inplace: bool) -> Any:
    made = tuple(results)
    return self if inplace else made


def _at_once(name: str, lists: Sequence[Sequence[Any]], number: object, inplace: bool) -> list[Any] | None:
    """Return the results of one launch for all tensors where their device has it, None elsewhere."""
    self = lists[0]
    run = devices.list_kernels.get(self[0]._sig.spec.device.type)
    if run is None or not all(devices.plain(tensors) for tensors in lists):
        return None
    outs = list(self) if inplace else [aten.empty_like(item) for item in self]
    if not run(name, outs, lists, number):
        return None
    if inplace:
        for item in self:
            devices.changed(item)
    return outs


def unary(name: str, inplace: bool = False) -> Each:
    """`fn(self)`."""
    each = _op(name + "_" * inplace)

    def over_list(self: Sequence[Any]) -> Any:
        _check_lists(self)
        made = _at_once(name, (self,), None, inplace)
        return _finish(self, (each(item) for item in self) if made is None else made, inplace)

    return over_list


def clone(self: Sequence[Any], memory_format: MemoryFormat | None) -> Any:
    """A copy of every tensor."""
    _check_lists(self)
    return tuple(aten.clone(item, memory_format=memory_format) for item in self)


def norm(self: Sequence[Any], ord: Scalar, dtype: Dtype | None) -> Any:
    """The vector norm of every tensor."""
    _check_lists(self)
    run = devices.list_kernels.get(self[0]._sig.spec.device.type)
    if run is not None and dtype is None and devices.plain(self):
        outs = [aten.empty((), dtype=self[0].dtype, device=self[0].device) for _ in self]
        if run("norm", outs, (self,), ord):
            return tuple(outs)
    return tuple(aten.linalg_vector_norm(item, ord, None, False, dtype=dtype) for item in self)


def powsum(self: Sequence[Any], ord: Scalar, dtype: Dtype | None) -> Any:
    """The sum of the absolute values' powers of every tensor."""
    _check_lists(self)
    if dtype is not None and any(item.dtype.is_complex for item in self):
        dtype.to_complex()  # torch sums complex numbers in it, which there must be
        dtype = dtype.to_real()
    return tuple(aten.sum(aten.pow(aten.abs(item), ord), dtype=dtype) for item in self)


def by_scalar(name: str, inplace: bool = False) -> Each:
    """`fn(self, scalar)`."""
    each = _op(name + "_" * inplace)

    def over_list(self: Sequence[Any], scalar: Scalar) -> Any:
        _check_lists(self)
        made = _at_once(name, (self,), scalar, inplace)
        return _finish(self, (each(item, scalar) for item in self) if made is None else made, inplace)

    return over_list


def by_scalars(name: str, inplace: bool = False) -> Each:
    """`fn(self, scalars)`, one number for each tensor."""
    each = _op(name + "_" * inplace)

    def over_lists(self: Sequence[Any], scalars: Sequence[Any]) -> Any:
        _check_lists(self)
        _check_scalars(self, scalars)
        return _finish(self, (each(item, scalar) for item, scalar in zip(self, scalars, strict=True)), inplace)

    return over_lists


def by_list(name: str, inplace: bool = False) -> Each:
    """`fn(self, other)`, tensor by tensor; `alpha` scales the other where the op has it."""
    each = _op(name + "_" * inplace)

    def over_lists(self: Sequence[Any], other: Sequence[Any], alpha: Scalar = 1) -> Any:
        _check_lists(self, other)
        made = _at_once(name, (self, other), alpha, inplace)
        if made is not None:
            return _finish(self, made, inplace)
        scale = {} if alpha == 1 and alpha is not True else {"alpha": alpha}
        return _finish(self, (each(item, rest, **scale) for item, rest in zip(self, other, strict=True)), inplace)

    return over_lists


def by_tensor(name: str, inplace: bool = False) -> Each:
    """`fn(self, other)` with one 0-d tensor for all."""
    each = _op(name + "_" * inplace)

    def over_list(self: Sequence[Any], other: Tensor, alpha: Scalar = 1) -> Any:
        dims, count = len(other.shape), other._sig.spec.numel
        check(
            dims == 0 and count == 1,
            lambda: f"scalar tensor expected to be 0 dim but it has {dims} dimensions and {count} elements.",
        )
        _check_lists(self)
        if alpha == 1 and devices.plain((other,)) and (made := _at_once(name, (self,), other, inplace)) is not None:
            return _finish(self, made, inplace)
        scale = {} if alpha == 1 and alpha is not True else {"alpha": alpha}
        return _finish(self, (each(item, other, **scale) for item in self), inplace)

    return over_list


def copy_(self: Sequence[Any], src: Sequence[Any], non_blocking: bool) -> Any:
    """Copy tensor by tensor."""
    _check_lists(self, src)
    return _finish(self, (aten.copy_(item, other, non_blocking) for item, other in zip(self, src, strict=True)), True)


def copy(self: Sequence[Any], src: Sequence[Any], non_blocking: bool) -> Any:
    """What the tensors would hold after `copy_`."""
    _check_lists(self, src)
    return tuple(aten.copy_(aten.empty_like(a), b, non_blocking) for a, b in zip(self, src, strict=True))


def scalar_to_powers(self: Scalar, exponent: Sequence[Any]) -> Any:
    """One number to the power of every tensor."""
    _check_lists(exponent)
    return tuple(aten.pow(self, power) for power in exponent)


def lerp_by_list(inplace: bool = False) -> Each:
    """`lerp` with a tensor of weights for each."""
    each = _op("lerp" + "_" * inplace)

    def over_lists(self: Sequence[Any], tensors1: Sequence[Any], weights: Sequence[Any]) -> Any:
        _check_lists(self, tensors1, weights)
        return _finish(self, (each(*item) for item in zip(self, tensors1, weights, strict=True)), inplace)

    return over_lists


def lerp_by_scalar(inplace: bool = False) -> Each:
    """`lerp` with one weight."""
    each = _op("lerp" + "_" * inplace)

    def over_lists(self: Sequence[Any], tensors1: Sequence[Any], weight: Scalar) -> Any:
        _check_lists(self, tensors1)
        made = _at_once("lerp", (self, tensors1), weight, inplace)
        if made is not None:
            return _finish(self, made, inplace)
        return _finish(self, (each(*pair, weight) for pair in zip(self, tensors1, strict=True)), inplace)

    return over_lists


def lerp_by_scalars(inplace: bool = False) -> Each:
    """`lerp` with a weight for each."""
    each = _op("lerp" + "_" * inplace)

    def over_lists(self: Sequence[Any], tensors1: Sequence[Any], weight: Sequence[Any]) -> Any:
        _check_lists(self, tensors1)
        _check_scalars(self, weight)
        return _finish(self, (each(*item) for item in zip(self, tensors1, weight, strict=True)), inplace)

    return over_lists


def pointwise_by_scalar(name: str, inplace: bool = False) -> Each:
    """`addcmul` and `addcdiv` with one factor."""
    each = _op(name + "_" * inplace)

    def over_lists(self: Sequence[Any], tensor1: Sequence[Any], tensor2: Sequence[Any], value: Scalar) -> Any:
        _check_lists(self, tensor1, tensor2)
        made = _at_once(name, (self, tensor1, tensor2), value, inplace)
        if made is not None:
            return _finish(self, made, inplace)
        return _finish(self, (each(*item, value=value) for item in zip(self, tensor1, tensor2, strict=True)), inplace)

    return over_lists


def pointwise_by_scalars(name: str, inplace: bool = False) -> Each:
    """`addcmul` and `addcdiv` with a factor for each tensor."""
    each = _op(name + "_" * inplace)

    def over_lists(
        self: Sequence[Any], tensor1: Sequence[Any], tensor2: Sequence[Any], scalars: Sequence[Scalar]
    ) -> Any:
        _check_lists(self, tensor1, tensor2)
        _check_scalars(self, scalars)
        items = zip(self, tensor1, tensor2, scalars, strict=True)
        return _finish(self, (each(*item, value=value) for *item, value in items), inplace)

    return over_lists


def pointwise_by_tensor(name: str, inplace: bool = False) -> Each:
    """`addcmul` and `addcdiv` with the factors packed in one tensor."""
    by_numbers = pointwise_by_scalars(name, inplace)

    def over_lists(self: Sequence[Any], tensor1: Sequence[Any], tensor2: Sequence[Any], scalars: Tensor) -> Any:
        return by_numbers(self, tensor1, tensor2, _unpacked(scalars, len(self)))

    return over_lists


def _unpacked(scalars: Any, count: int) -> list[Any]:
    spec = scalars._sig.spec
    check(spec.device.type == "cpu", lambda: f"Expected scalars to be on CPU, got {spec.device} instead.")
    check(spec.is_contiguous, lambda: "Expected scalars to be contiguous.")
    check(spec.ndim == 1, lambda: f"Expected packed scalar Tensor to be of dimension 1. Got {spec.ndim} instead.")
    check(
        spec.numel == count,
        lambda: f"Expected length of scalars to match input of length {count} but got {spec.numel} instead.",
    )
    found: list[Any] = scalars.tolist()
    return found
