"""What runs for the key SparseCsrCPU: ops on tensors with compressed rows or columns, in terms of their indices and values.

An op that is not here, and not composed of ops that are, raises torch's error for a missing backend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import layout_name, sparse_csr
from mindtorch_storage.layout import memory_format as MemoryFormat
from mindtorch_storage.promotion import can_cast, promote_types
from mindtorch_storage.sparse import without

from ..call import aten
from ..meta.checks import check, shape_text
from ..typing import Tensor
from . import compressed, coo
from .compressed import Entries, Grid, entries, from_entries, is_compressed, like, make, parts, spec_of
from .compressed_shapes import ones_like, without_blocks
from .table import compressed_kernel as kernel
from .table import filling, written


def _of_values(name: str) -> Callable[..., Any]:
    return lambda self, *rest: like(self, getattr(aten, name)(parts(self).values, *rest))


for _name in (
    "abs angle asin asinh atan atanh ceil conj_physical deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf "
    "log1p neg positive rad2deg relu round sgn sign signbit sin sinh sqrt tan tanh trunc real imag"
).split():
    kernel(_name)(filling(_of_values(_name)))


@kernel("abs_")
def abs_(self: Tensor) -> Any:
    """The magnitudes, into a real tensor itself."""
    check(not self.dtype.is_complex, lambda: "In-place abs is not supported for complex tensors.")
    return written(self, _of_values("abs")(self))


@kernel("threshold_backward")
def threshold_backward(grad_output: Tensor, self: Tensor, threshold: float) -> Any:
    """The gradient of relu: that of the values."""
    return like(grad_output, aten.threshold_backward(parts(grad_output).values, parts(self).values, threshold))


@kernel("clone")
def clone(self: Tensor, memory_format: MemoryFormat | None = None) -> Any:
    """A copy of indices and values."""
    given = parts(self)
    bounds, plain = aten.clone(given.compressed), aten.clone(given.plain)
    return make(self._sig.spec.layout, bounds, plain, aten.clone(given.values), self.shape)


@kernel("detach", "alias")
def detach(self: Tensor) -> Any:
    """The same entries in another tensor."""
    return like(self, parts(self).values)


@kernel("_to_copy")
def to_copy(
    self: Tensor,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    memory_format: MemoryFormat | None,
) -> Any:
    """A copy in another dtype or on another device."""
    given = parts(self)
    return make(
        self._sig.spec.layout,
        aten._to_copy(given.compressed, device=device),
        aten._to_copy(given.plain, device=device),
        aten._to_copy(given.values, dtype=dtype, device=device),
        self.shape,
    )


@kernel("copy_")
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Any:
    """The entries of another tensor of the same layout, size and number of entries, in the dtype of `self`."""
    one, two = self._sig.spec.layout, src._sig.spec.layout
    check(
        is_compressed(self),
        lambda: f"copy_sparse_compressed_ expected sparse compressed tensor layout but got {layout_name(one)}",
    )
    check(
        one is two,
        lambda: (
            "torch.copy_: copy of sparse compressed tensors having different layouts is not supported. self layout is "
            f"{layout_name(one)} and src layout is {layout_name(two)}"
        ),
    )
    given, source = parts(self), parts(src)
    have, want = given.plain.shape[-1], source.plain.shape[-1]
    check(
        have == want,
        lambda: "torch.copy_: only sparse compressed tensors with the same number of specified elements are supported.",
    )
    _check_lines(self, src)
    aten.copy_(given.compressed, source.compressed)
    aten.copy_(given.plain, source.plain)
    aten.copy_(given.values, source.values)
    self._counter[0] += 1
    return self


def _check_lines(self: Tensor, src: Tensor) -> None:
    """Refuse a copy between tensors of another number of compressed rows or columns, or of other blocks."""
    name = layout_name(self._sig.spec.layout)
    one, two = spec_of(self), spec_of(src)
    # torch looks for them before the last dimension, also where dense ones follow.
    dims = [tensor.dim() - (2 if one.layout in compressed.ROWS else 1) for tensor in (self, src)]
    have, want = self.shape[dims[0]], src.shape[dims[1]]
    along = f"dimension {dims[0]}" if dims[0] == dims[1] else f"dimensions {dims[0]} and {dims[1]}, respectively,"
    check(
        have == want,
        lambda: (
            f"torch.copy_: expected shapes of self and src to match along {along} for {name} layout but the corresponding "
            f"dimensions of self and src are {have} and {want}, respectively."
        ),
    )
    check(
        one.blocksize == two.blocksize,
        lambda: (
            "torch.copy_: copy of sparse compressed tensors having different block sizes is not supported. self and src "
            f"block sizes are {shape_text(one.blocksize or ())} and {shape_text(two.blocksize or ())}, respectively."
        ),
    )


@kernel("sparse_mask")
def sparse_mask(self: Tensor, mask: Tensor) -> Any:
    """The elements of a tensor at the places that a compressed one has."""
    check(
        is_compressed(mask),
        lambda: f"sparse_mask(): expected a compressed mask, got {layout_name(mask._sig.spec.layout)}",
    )
    check(
        self.shape == mask.shape,
        lambda: (
            f"sparse_mask(): operands have incompatible sizes; self has size {shape_text(self.shape)} but mask has size "
            f"{shape_text(mask.shape)}"
        ),
    )
    return like(mask, at_entries(aten.to_dense(self), mask))


def at_entries(dense: Tensor, mask: Tensor) -> Any:
    """Return the elements of a strided tensor where `mask` has entries, in the shape of its values."""
    spec, grid, given = spec_of(mask), Grid.of(mask), entries(mask)
    rest = list(dense.shape[spec.batch_dim + 2 :])
    if spec.blocksize:
        high, wide = spec.blocksize
        blocks = aten.reshape(dense, [grid.batches, grid.rows, high, grid.columns, wide, *rest])
        cells = aten.transpose(blocks, 2, 3)
    else:
        cells = aten.reshape(dense, [grid.batches, grid.rows, grid.columns, *rest])
    found = aten.index(cells, [given.batch, given.row, given.column])
    return aten.reshape(found, list(parts(mask).values.shape))


def _is_tensor(value: object) -> bool:
    return hasattr(value, "_sig")


def _check_same_shape(name: str, self: Tensor, other: Tensor) -> None:
    check(
        self.shape == other.shape,
        lambda: (
            f"torch.{name}: Expected input tensors to have the same shape, but got tensor `self` with shape "
            f"{shape_text(self.shape)} and tensor `other` with shape {shape_text(other.shape)}"
        ),
    )


def _check_layouts(self: Tensor, other: Tensor) -> None:
    """Refuse two sparse tensors of different layouts in the words of the first index that lacks."""
    one, two = self._sig.spec.layout, other._sig.spec.layout
    kind, name = ("row", "crow") if one in compressed.ROWS else ("column", "ccol")
    check(
        one is two,
        lambda: f"{name}_indices expected sparse {kind} compressed tensor layout but got {layout_name(two)}",
    )


@kernel("add.Tensor")
def add(self: Tensor, other: Any, alpha: Any = 1) -> Any:
    """Two compressed tensors give one, a dense one and a compressed one a dense one."""
    if not is_compressed(self):
        return _add_to_dense(self, other, alpha)
    if not _is_tensor(other) or not is_compressed(other):
        held = other if _is_tensor(other) else aten.scalar_tensor(other)
        return _add_to_dense(held, self, alpha)  # in torch, too, it is the sparse one that is scaled
    _check_same_shape("add", self, other)
    _check_layouts(self, other)
    one, two = entries(self), entries(other)
    dtype = promote_types(self.dtype, other.dtype)
    second = aten._to_copy(two.values, dtype=dtype)
    second = second if alpha == 1 else aten.mul(second, alpha)
    batch, row, column = (aten.cat([first, then]) for first, then in zip(one[:3], two[:3], strict=True))
    joined = Entries(batch, row, column, aten.cat([aten._to_copy(one.values, dtype=dtype), second]))
    layout = self._sig.spec.layout
    return from_entries(layout, Grid.of(self), joined, self.shape, parts(self).plain.dtype)


def _add_to_dense(dense: Tensor, sparse: Tensor, alpha: Any) -> Any:
    check(
        dense.shape == sparse.shape,
        lambda: (
            f"add: expected 'self' and 'other' to have same size, but self has size {shape_text(dense.shape)} while "
            f"other has size {shape_text(sparse.shape)} (FYI: op2-sparse addition does not currently support "
            "broadcasting)"
        ),
    )
    return aten.add(dense, compressed.to_dense(sparse), alpha=alpha)


@kernel("add_.Tensor")
def add_(self: Tensor, other: Any, alpha: Any = 1) -> Any:
    """The sum, into `self`."""
    made = add(self, other, alpha)
    check(
        can_cast(made.dtype, self.dtype),
        lambda: (
            f"Can't convert result type {made.dtype.scalar_name} to output {self.dtype.scalar_name} in add operation"
        ),
    )
    if not is_compressed(self):
        return aten.copy_(self, made)
    if not is_compressed(made):
        raise without(self._sig.spec.layout, "is_contiguous")
    return coo.replace(self, made if made.dtype is self.dtype else aten._to_copy(made, dtype=self.dtype))


@kernel("mul.Tensor", "mul.Scalar")
def mul(self: Any, other: Any) -> Any:
    """By a number, a 0-d tensor, a dense tensor of the same size, or another compressed tensor."""
    if not _is_tensor(self) or not is_compressed(self):
        return mul(other, self)
    if not _is_tensor(other) or (other.dim() == 0 and not is_compressed(other)):
        return like(self, aten.mul(parts(self).values, other))
    layout = self._sig.spec.layout
    without_blocks(layout)
    check(layout is sparse_csr, lambda: "Expected result Tensor to be of format CSR")
    if not is_compressed(other):
        spread = aten.expand(other, list(self.shape)) if other.shape != self.shape else other
        return like(self, aten.mul(parts(self).values, at_entries(spread, self)))
    _check_same_shape("mul", self, other)
    one, two = compressed.to_coo(self), compressed.to_coo(other)
    kept = at_entries(compressed.to_dense(ones_like(other, int64)), self)
    there = aten.reshape(aten.nonzero(aten.reshape(kept, [-1])), [-1])
    given = entries(self)
    products = aten.mul(given.values, aten.reshape(at_entries(aten.to_dense(two), self), list(given.values.shape)))
    batch, row, column, values = (aten.index_select(part, 0, there) for part in (*given[:3], products))
    found = Entries(batch, row, column, values)
    return from_entries(layout, Grid.of(self), found, one.shape, parts(self).plain.dtype)


@kernel("mul_.Tensor", "mul_.Scalar")
def mul_(self: Tensor, other: Any) -> Any:
    """The product, into `self`."""
    check(
        not is_compressed(self) or not _is_tensor(other) or other.dim() == 0 or self.layout is sparse_csr,
        lambda: "Expected result Tensor to be of format CSR",
    )
    made = mul(self, other)
    check(
        can_cast(made.dtype, self.dtype),
        lambda: (
            f"result type {made.dtype.scalar_name} can't be cast to the desired output type {self.dtype.scalar_name}"
        ),
    )
    if not is_compressed(self):
        return aten.copy_(self, compressed.to_dense(made))
    return coo.replace(self, made if made.dtype is self.dtype else aten._to_copy(made, dtype=self.dtype))


@kernel("contiguous", "_reshape_alias", "cat")
def no_contiguity(self: Any, *rest: object) -> Any:
    """Raises, as in torch."""
    first = self if _is_tensor(self) else self[0]
    raise without(first._sig.spec.layout, "is_contiguous")
