"""Indexing composed of other ops."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import uint8
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes
from mindtorch_storage.tensor_base import TensorBase

from ..apart import ANYWHERE, NOTHING_SHARED, WHOLLY, Apart
from ..call import aten
from ..frames import frames_to_caller
from ..meta.checks import check, wrap_dim
from ..meta.index import check_indices
from ..typing import Scalar, Tensor


def warn_of_bytes() -> None:
    """Give torch's warning about a mask of bytes."""
    warnings.warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
        UserWarning,
        stacklevel=frames_to_caller(),
    )


def positions_of(indices: Any) -> list[Any]:
    """Return the indices with every mask replaced by the positions where it holds, one tensor per dimension."""
    found: list[Any] = []
    for one in indices:
        if one is not None and one.dtype.name in ("bool", "uint8"):
            found.extend(
                aten.unbind(aten.nonzero(one), 1) if one.shape else aten.nonzero(aten.unsqueeze(one, 0)).unbind(1)
            )
        else:
            found.append(one)
    return found


def index(self: Any, indices: Any) -> Any:
    """`self[indices]`: masks become positions first, but for one mask over all dimensions."""
    specs = [None if one is None else one._sig.spec for one in indices]
    masks = [spec for spec in specs if spec is not None and (spec.dtype is bool_dtype or spec.dtype is uint8)]
    if not masks:
        return aten._index_integer.default(self, indices)
    for one in masks:
        if one.dtype is uint8:
            warn_of_bytes()
    spec = self._sig.spec
    if len(specs) == 1 and masks[0].ndim == spec.ndim:
        return aten._index_masked.default(self, [aten._to_copy(one, dtype=bool_dtype) for one in indices])
    if len(specs) > 1 or masks[0].shape != spec.shape[: masks[0].ndim] or masks[0].device != spec.device:
        check_indices(spec, specs)
    return aten._index_integer.default(self, positions_of(indices))


def index_put_impl(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool, unsafe: bool
) -> Any:
    """`index_put_`."""
    return aten.index_put_(self, indices, values, accumulate)


def unsafe_index_put(self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool) -> Any:
    """`index_put`."""
    return aten.index_put(self, indices, values, accumulate)


def _clamped(self: TensorBase, indices: Any) -> list[Any]:
    return [
        None if one is None else aten.clamp(one, -self.shape[place], self.shape[place] - 1)
        for place, one in enumerate(indices)
    ]


def unsafe_masked_index(self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: Scalar) -> Any:
    """`self[indices]` where the mask holds, `fill` elsewhere; positions outside count only where it does not hold."""
    if not self.numel():
        return aten.masked_fill(aten.zeros(list(mask.shape), dtype=self.dtype, device=self.device), mask == 0, fill)
    made = aten._unsafe_index(self, _clamped(self, indices))
    return aten.masked_fill(made, aten.logical_not(mask), fill)


def unsafe_masked_index_put_accumulate(
    self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Any:
    """`index_put` that adds the values where the mask holds."""
    if not self.numel():
        return aten.clone(self)
    kept = aten.masked_fill(values, aten.logical_not(mask), 0)
    return aten._unsafe_index_put(self, _clamped(self, indices), kept, True)


def argwhere(self: Tensor) -> Any:
    """`nonzero`."""
    return aten.nonzero(self)


def where_positions(condition: Tensor) -> Any:
    """The positions where the condition holds, a tensor per dimension."""
    if not condition.shape:
        return list(aten.unbind(aten.nonzero(aten.unsqueeze(condition, 0)), 1))
    return list(aten.unbind(aten.nonzero(condition), 1))


def nonzero_as_tuple(self: Tensor, as_tuple: bool) -> Any:
    """`nonzero` as Python offers it: positions as rows, or a tensor per dimension."""
    return tuple(where_positions(self)) if as_tuple else aten.nonzero.default(self)


def _not_into(out: object, self: Tensor, as_tuple: bool) -> Any:
    if as_tuple:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return aten.nonzero.out(self, out=out)


nonzero_as_tuple.into = _not_into  # type: ignore[attr-defined]  # what `compose` asks for


def take_along_dim_apart(self: Spec, indices: Spec, dim: int | None = None) -> Apart:
    """As `gather`, which reads the places modulo the extent, copies, and an operand that is not broadcast by itself."""
    if dim is None:
        return NOTHING_SHARED
    wrapped = wrap_dim(dim, self.ndim)
    same = self.ndim == indices.ndim and all(
        mine == other or other == 1 or place == wrapped
        for place, (mine, other) in enumerate(zip(self.shape, indices.shape, strict=True))
    )
    return Apart("", {0: WHOLLY}) if same else ANYWHERE


def take_along_dim(self: Tensor, indices: Tensor, dim: int | None) -> Any:
    """`gather` with broadcasting, places modulo the extent; without dim plainly on the flattened tensor."""
    if dim is None:
        return aten.gather(aten.view(self, [-1]), 0, aten.view(indices, [-1]))
    check(
        indices.dtype.name == "int64",
        lambda: f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.scalar_name}",
    )
    check(
        len(self.shape) == len(indices.shape),
        lambda: (
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{len(self.shape)} dimensions for input, and {len(indices.shape)} dimensions for indices"
        ),
    )
    dim = wrap_dim(dim, len(self.shape))
    from_shape, to_shape = list(self.shape), list(indices.shape)
    from_shape[dim] = to_shape[dim] = 1
    common = list(broadcast_shapes(from_shape, to_shape))
    source = aten.expand(self, [*common[:dim], self.shape[dim], *common[dim + 1 :]])
    places = aten.expand(indices, [*common[:dim], indices.shape[dim], *common[dim + 1 :]])
    return aten.gather(source, dim, aten.remainder(places, self.shape[dim]))


def fill_diagonal_(self: Tensor, fill_value: Scalar, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal; with `wrap` a tall matrix has it again below each square."""
    spec = self._sig.spec
    check(spec.ndim >= 2, lambda: "dimensions must larger than 1")
    check(spec.ndim == 2 or len(set(spec.shape)) == 1, lambda: "all dimensions of input must be of equal length")
    length, step = min(spec.shape), sum(spec.stride)
    aten.fill_(aten.as_strided(self, [length], [step], self._offset), fill_value)
    if wrap and spec.ndim == 2 and spec.shape[0] > spec.shape[1] + 1:
        after = spec.shape[1] + 1
        left = -(-spec.numel // after) - length
        aten.fill_(aten.as_strided(self, [left], [step], self._offset + spec.stride[0] * after), fill_value)
    return self
