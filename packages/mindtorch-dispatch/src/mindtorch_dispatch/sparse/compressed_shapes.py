"""Tensors with compressed rows or columns of another size, transposed, selected from, and new ones like them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import layout_name, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr
from mindtorch_storage.sparse import COMPRESSED_LAYOUTS

from ..call import aten
from ..meta.checks import check, shape_text
from ..meta.factory import check_size, check_zeros
from ..typing import Tensor
from . import compressed, coo
from .compressed import BLOCKS, Grid, is_compressed, make, parts, spec_of, view_of
from .shapes import wrapped
from .table import compressed_kernel as kernel

_DIMS = ("Batch", "Sparse", "Dense")
_TRANSPOSED = {sparse_csr: sparse_csc, sparse_csc: sparse_csr, sparse_bsr: sparse_bsc, sparse_bsc: sparse_bsr}


@kernel("zero_")
def zero_(self: Tensor) -> Any:
    """Drop all entries."""
    return coo.replace(self, _emptied(self))


@kernel("fill_.Scalar")
def fill(self: Tensor, value: float) -> Any:
    """Write a number to all entries."""
    aten.fill_(parts(self).values, value)
    return self


@kernel("normal_")
def normal(self: Tensor, mean: float = 0, std: float = 1, generator: object = None) -> Any:
    """Draw all entries."""
    aten.normal_(parts(self).values, mean, std, generator=generator)
    return self


def without_blocks(layout: Layout) -> None:
    """Refuse a layout of blocks where torch makes a tensor without any entries first."""
    check(
        layout not in BLOCKS,
        lambda: (
            "empty_sparse_compressed expected sparse compressed (non-block) tensor layout but got "
            f"{layout_name(layout)}"
        ),
    )


@kernel("zeros_like")
def zeros_like(self: Tensor, dtype: Dtype | None = None, layout: Layout | None = None, *rest: object) -> Any:
    """A tensor of the same size without entries."""
    wanted = layout or self._sig.spec.layout
    if not is_compressed(self):
        return zeros(list(self.shape), dtype or self.dtype, wanted, self.device)
    if wanted is sparse_coo:
        return coo.empty(self.shape, dtype or self.dtype, self.device, spec_of(self).batch_dim + 2)
    if wanted not in COMPRESSED_LAYOUTS:
        _check_requested(self, wanted)
    blocks = self._sig.spec.layout in BLOCKS
    check(
        blocks is (wanted in BLOCKS),
        lambda: (
            "sparse_compressed_tensor_with_dims: "
            + (
                f"blocksize cannot be specified for non-block layout {layout_name(wanted)}"
                if blocks
                else "blocksize needs to be a tuple of size 2, but got 0"
            )
        ),
    )
    return _emptied(self, dtype, wanted)


def _check_requested(self: Tensor, wanted: Layout) -> None:
    have = self._sig.spec.layout
    check(
        wanted is have,
        lambda: (
            f"empty_like with different sparse layout is not supported (self is {layout_name(have)} but you requested "
            f"{layout_name(wanted)})"
        ),
    )


def _emptied(self: Tensor, dtype: Dtype | None = None, layout: Layout | None = None) -> Any:
    """Return a tensor of the same size and blocks without entries."""
    spec, grid, given = spec_of(self), Grid.of(self), parts(self)
    layout = layout or spec.layout
    lines = grid.rows if layout in compressed.ROWS else grid.columns
    bounds = aten.zeros([*grid.lead, lines + 1], dtype=given.compressed.dtype, device=self.device)
    plain = aten.empty([*grid.lead, 0], dtype=given.plain.dtype, device=self.device)
    rest = list(given.values.shape[spec.batch_dim + 1 :])
    values = aten.empty([*grid.lead, 0, *rest], dtype=dtype or self.dtype, device=self.device)
    return make(layout, bounds, plain, values, self.shape)


@kernel("empty_like")
def empty_like(self: Tensor, dtype: Dtype | None = None, layout: Layout | None = None, *rest: object) -> Any:
    """A tensor with the indices of this one and values that are not set."""
    wanted = layout or self._sig.spec.layout
    if not is_compressed(self):
        return zeros_like(self, dtype, layout)
    _check_requested(self, wanted)
    given = parts(self)
    bounds, plain = aten.clone(given.compressed), aten.clone(given.plain)
    return make(wanted, bounds, plain, aten.empty_like(given.values, dtype=dtype), self.shape)


@kernel("ones_like")
def ones_like(self: Tensor, dtype: Dtype | None = None, layout: Layout | None = None, *rest: object) -> Any:
    """A tensor with the indices of this one and ones."""
    return fill(empty_like(self, dtype, layout), 1)


@kernel("randn_like")
def randn_like(self: Tensor, dtype: Dtype | None = None, layout: Layout | None = None, *rest: object) -> Any:
    """A tensor with the indices of this one and normal numbers."""
    return normal(empty_like(self, dtype, layout))


@kernel("full_like")
def full_like(
    self: Tensor, fill_value: float, dtype: Dtype | None = None, layout: Layout | None = None, *rest: object
) -> Any:
    """A tensor with the indices of this one and one number."""
    return fill(empty_like(self, dtype, layout), fill_value)


def _factory(name: str, check_extents: Callable[[Sequence[int]], object]) -> Callable[..., Any]:
    """Return the function that makes tensors without entries, for `zeros` or `empty`."""

    def made(size: Sequence[int], dtype: Dtype | None, layout: Layout, device: Device | None, *rest: object) -> Any:
        without_blocks(layout)
        check(
            len(size) >= 2,
            lambda: (
                f"torch.{name}: Only batched sparse compressed (non-block) tensors are supported, but got size "
                f"{shape_text(list(size))}"
            ),
        )
        check_extents(size)
        like_this = aten.empty([0], dtype=dtype, device=device)
        return compressed.empty(layout, size, like_this.dtype, like_this.device)

    return made


zeros = kernel("zeros")(_factory("zeros", check_zeros))
kernel("empty.memory_format")(_factory("empty", check_size))


@kernel("new_zeros", "new_empty")
def new_zeros(
    self: Tensor,
    size: Sequence[int],
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Any:
    """A tensor of another size without entries."""
    return zeros(size, dtype or self.dtype, layout or self._sig.spec.layout, device or self.device)


@kernel("transpose.int")
def transpose(self: Tensor, dim0: int, dim1: int) -> Any:
    """Rows and columns exchanged, the same indices and values under the other layout; or two batch dimensions."""
    spec, rank = spec_of(self), self.dim()
    one, two = sorted((wrapped(dim0, rank), wrapped(dim1, rank)))
    if one == two:
        return view_of(self, aten.alias(self))
    batch = spec.batch_dim
    given_dims = (wrapped(dim0, rank), wrapped(dim1, rank))
    kinds = [0 if dim < batch else 1 if dim < batch + 2 else 2 for dim in given_dims]
    check(
        kinds[0] == kinds[1] != 2,
        lambda: (
            f"transpose(): can only transpose dimensions of the same type (Batch, Sparse, Dense), got {given_dims[0]}"
            f"({_DIMS[kinds[0]]}) and {given_dims[1]}({_DIMS[kinds[1]]})"
        ),
    )
    size = list(self.shape)
    size[one], size[two] = size[two], size[one]
    given, layout = parts(self), spec.layout
    bounds, plain, values = given.compressed, given.plain, given.values
    if kinds[0] == 0:
        bounds, plain, values = (aten.transpose(part, one, two) for part in (bounds, plain, values))
    else:
        layout = _TRANSPOSED[layout]
        if spec.blocksize:
            values = aten.transpose(values, batch + 1, batch + 2)
    return view_of(self, make(layout, bounds, plain, values, size))


@kernel("t")
def t(self: Tensor) -> Any:
    """A matrix with rows and columns exchanged."""
    check(self.dim() <= 2, lambda: f"t() expects a tensor with <= 2 dimensions, but self is {self.dim()}D")
    return transpose(self, 0, 1)
