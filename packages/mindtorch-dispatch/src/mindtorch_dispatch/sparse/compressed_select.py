"""One row, column, batch or dense index of a tensor with compressed rows or columns, as a view or as a copy."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import int64

from ..call import aten
from ..meta.checks import check, shape_text
from ..typing import Tensor
from . import coo
from .compressed import ROWS, make, parts, spec_of, view_of
from .shapes import wrapped
from .table import compressed_kernel as kernel


@kernel("select.int")
def select(self: Tensor, dim: int, index: int) -> Any:
    """What has one index in a dimension: of a row or column the coordinates, of a batch or a dense dimension its layout."""
    return view_of(self, _selected("select", self, dim, index, view=True))


@kernel("select_copy.int")
def select_copy(self: Tensor, dim: int, index: int) -> Any:
    """The same with values of its own, also where no view has them."""
    made = _selected("select_copy", self, dim, index, view=False)
    return aten.clone(made)


def _selected(name: str, self: Tensor, dim: int, index: int, view: bool) -> Any:
    spec, given = spec_of(self), parts(self)
    place, batch = wrapped(dim, self.dim()), spec.batch_dim
    extent = self.shape[place]
    if not -extent <= index < extent:
        raise IndexError(
            f"{name}(): index {index} out of range for tensor of size {shape_text(self.shape)} at dimension {dim}"
        )
    size = [length for number, length in enumerate(self.shape) if number != place]
    if place < batch:
        bounds, plain, values = (
            aten.select(part, place, index) for part in (given.compressed, given.plain, given.values)
        )
        return make(spec.layout, bounds, plain, values, size)
    if place >= batch + 2:
        at = place - 1 + (2 if spec.blocksize else 0)
        return make(spec.layout, given.compressed, given.plain, aten.select(given.values, at, index), size)
    check(
        batch == 0,
        lambda: f"{name}(): selecting sparse dimensions is not supported for batched sparse compressed tensors.",
    )
    return _line(name, self, place, index % extent, size, view)


def _line(name: str, self: Tensor, place: int, index: int, size: list[int], view: bool) -> Any:
    """Return row or column `index` as a tensor of coordinates."""
    spec, given = spec_of(self), parts(self)
    high_wide = spec.blocksize or (1, 1)
    across = high_wide[1 - place]
    block, within = divmod(index, high_wide[place])
    if place == (0 if spec.layout in ROWS else 1):
        first, last = given.compressed[block : block + 2].tolist()
        at, values = given.plain[first:last], given.values[first:last]
    else:
        found = aten.reshape(aten.nonzero(aten.eq(given.plain, block)), [-1])
        at = aten.sub(aten.searchsorted(given.compressed, found, right=True), 1)
        values = _taken(name, given.values, found, view)
    at = aten._to_copy(at, dtype=int64)
    if spec.blocksize:
        values = aten.select(values, 1 + place, within)
        each = aten.arange(across, dtype=int64, device=at.device)
        at = aten.reshape(aten.add(aten.reshape(aten.mul(at, across), [-1, 1]), each), [-1])
        values = _joined(name, values, view)
    return coo.make(aten.reshape(at, [1, -1]), values, size, True)


def _no_view(name: str) -> RuntimeError:
    return RuntimeError(f"{name}(): no view exists for the given input, consider using torch.{name}_copy.")


def _taken(name: str, values: Tensor, found: Tensor, view: bool) -> Any:
    """Return the values at ordered places: a view has them where their distances are equal."""
    if not view:
        return aten.index_select(values, 0, found)
    places = found.tolist()
    if not places:
        return values[:0]
    step = places[1] - places[0] if len(places) > 1 else 1
    if places != list(range(places[0], places[0] + step * len(places), step)):
        raise _no_view(name)
    return values[places[0] : places[-1] + 1 : step]


def _joined(name: str, values: Tensor, view: bool) -> Any:
    """Return what lies in rows of blocks, one after the other in one dimension."""
    count, across = values.shape[:2]
    apart = values.stride(0) != across * values.stride(1)
    if view and count > 1 and across > 1 and apart:
        raise _no_view(name)
    return aten.reshape(values, [count * across, *values.shape[2:]])
