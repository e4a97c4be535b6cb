"""Meta rules of views: new geometry over the same bytes. Views have no kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import check_fits, infer_size, memory_span, view_strides
from mindtorch_storage.tensor_base import TensorBase

from ..typing import Tensor
from .checks import check, shape_text, type_text, wrap_dim
from .rule import Start, View, meta_rule

view_rule = meta_rule(view=True)


def strided(self: Spec, shape: Sequence[int], stride: Sequence[int], offset: Callable[..., Any] | int = 0) -> View:
    """Return a view of `self` with another shape and strides."""
    return View(Spec.of(self.dtype, self.device, tuple(shape), tuple(stride)), offset)


@view_rule
def alias(self: Spec) -> View:
    """The same geometry."""
    return View(self)


@view_rule
def view(self: Spec, size: Sequence[int]) -> View:
    """`view`: torch's rule on which shapes the strides allow."""
    shape = infer_size(size, self.numel)
    stride = view_strides(self.shape, self.stride, shape)
    if stride is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return strided(self, shape, stride)


@view_rule
def reshape_alias(self: Spec, size: Sequence[int], stride: Sequence[int]) -> View:
    """`_reshape_alias`: the view that `reshape` found."""
    check(
        len(size) == len(stride),
        lambda: f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})",
    )
    return strided(self, size, stride)


@view_rule
def expand(self: Spec, size: Sequence[int], implicit: bool = False) -> View:
    """`expand`: stretched dimensions get stride 0; -1 keeps the extent."""
    size = tuple(size)
    lead = len(size) - self.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand({type_text(self)}{{{shape_text(self.shape)}}}, size={shape_text(size)}): the number of sizes "
            f"provided ({len(size)}) must be greater or equal to the number of dimensions in the tensor ({self.ndim})"
        )
    shape, stride = list(size), [0] * len(size)
    for index in range(len(size) - 1, -1, -1):
        old, wanted = index - lead, size[index]
        if old < 0:
            check(
                wanted != -1,
                lambda wanted=wanted, index=index: (
                    f"The expanded size of the tensor ({wanted}) isn't allowed in a leading, "
                    f"non-existing dimension {index}"
                ),
            )
            if wanted == 1 and index + 1 < len(size):
                stride[index] = shape[index + 1] * stride[index + 1]
            continue
        have = self.shape[old]
        if wanted in (-1, have):
            shape[index], stride[index] = have, self.stride[old]
            continue
        check(
            have == 1,
            lambda wanted=wanted, have=have, index=index: (
                f"The expanded size of the tensor ({wanted}) must match the "
                f"existing size ({have}) at non-singleton dimension {index}.  Target sizes: {shape_text(size)}.  Tensor sizes: "
                f"{shape_text(self.shape)}"
            ),
        )
    return strided(self, shape, stride)


@view_rule
def permute(self: Spec, dims: Sequence[int]) -> View:
    """`permute`: dimensions in another order."""
    dims = tuple(dims)
    check(
        len(dims) == self.ndim,
        lambda: (
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
            f"desired ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(dims)}"
        ),
    )
    order = [wrap_dim(dim, self.ndim) for dim in dims]
    check(len(set(order)) == len(order), lambda: "permute(): duplicate dims are not allowed.")
    return strided(self, [self.shape[d] for d in order], [self.stride[d] for d in order])


@view_rule
def transpose(self: Spec, dim0: int, dim1: int) -> View:
    """`transpose`: two dimensions change places."""
    dim0, dim1 = wrap_dim(dim0, self.ndim), wrap_dim(dim1, self.ndim)
    shape, stride = list(self.shape), list(self.stride)
    if self.ndim:
        shape[dim0], shape[dim1] = shape[dim1], shape[dim0]
        stride[dim0], stride[dim1] = stride[dim1], stride[dim0]
    return strided(self, shape, stride)


def _transposed(self: Spec, name: str) -> View:
    check(self.ndim <= 2, lambda: f"{name}() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return strided(self, self.shape[::-1], self.stride[::-1])


t, t_ = view_rule(lambda self: _transposed(self, "t")), view_rule(lambda self: _transposed(self, "t_"))
"""`t`: the transpose of a matrix, vectors and scalars unchanged."""


@view_rule
def unsqueeze(self: Spec, dim: int) -> View:
    """`unsqueeze`: a new dimension of extent 1."""
    dim = wrap_dim(dim, self.ndim + 1)
    step = self.shape[dim] * self.stride[dim] if dim < self.ndim else 1
    return strided(self, (*self.shape[:dim], 1, *self.shape[dim:]), (*self.stride[:dim], step, *self.stride[dim:]))


def _squeezed(self: Spec, dims: Sequence[int]) -> View:
    kept = [index for index in range(self.ndim) if not (index in dims and self.shape[index] == 1)]
    return strided(self, [self.shape[i] for i in kept], [self.stride[i] for i in kept])


@view_rule
def squeeze(self: Spec) -> View:
    """`squeeze`: every dimension of extent 1 goes."""
    return _squeezed(self, range(self.ndim))


@view_rule
def squeeze_dim(self: Spec, dim: int) -> View:
    """`squeeze(dim)`: goes when its extent is 1."""
    return _squeezed(self, (wrap_dim(dim, self.ndim),))


@view_rule
def squeeze_dims(self: Spec, dim: Sequence[int]) -> View:
    """`squeeze(dims)`: those of extent 1 go."""
    wrapped = [wrap_dim(one, self.ndim) for one in dim]
    for one in wrapped:
        check(wrapped.count(one) == 1, lambda one=one: f"dim {one} appears multiple times in the list of dims")
    return _squeezed(self, wrapped)


@view_rule
def select(self: Spec, dim: int, index: int) -> View:
    """`select`: one position along a dimension."""
    check(self.ndim > 0, lambda: "select() cannot be applied to a 0-dim tensor.", IndexError)
    dim = wrap_dim(dim, self.ndim)
    extent, step, shape = self.shape[dim], self.stride[dim], self.shape

    def refuse(position: int) -> Exception:
        return IndexError(
            f"select(): index {position} out of range for tensor of size {shape_text(shape)} at dimension {dim}"
        )

    return View(
        Spec.of(self.dtype, self.device, shape[:dim] + shape[dim + 1 :], self.stride[:dim] + self.stride[dim + 1 :]),
        Start(2, extent, step, refuse),
    )


def clamp_slice(extent: int, start: int | None, end: int | None) -> tuple[int, int]:
    """Return `start` and `end` of a slice within [0, extent], negative ones counted from the end."""
    start = 0 if start is None else start
    end = extent if end is None else end
    if start < 0:
        start += extent
    if end < 0:
        end += extent
    start = min(max(start, 0), extent)
    return start, min(max(end, start), extent)


def slice_key(self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    """Plan key of `slice`: the length and step; where it starts only moves the offset."""
    if type(dim) is not int or type(step) is not int or step <= 0:
        return None
    shape = self._sig.spec.shape
    if not -len(shape) <= dim < len(shape):
        return None
    if (start is not None and type(start) is not int) or (end is not None and type(end) is not int):
        return None
    first, last = clamp_slice(shape[dim], start, end)
    return dim, last - first, step, start is None, end is None


@view_rule
def slice_(self: Spec, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> View:
    """`slice`: every step-th position of a range along a dimension."""
    check(self.ndim > 0, lambda: "slice() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, self.ndim)
    check(step > 0, lambda: "slice step must be positive")
    extent, stride = self.shape[dim], self.stride[dim]
    first, last = clamp_slice(extent, start, end)
    length = (last - first + step - 1) // step
    shape = (*self.shape[:dim], length, *self.shape[dim + 1 :])
    strides = (*self.stride[:dim], stride * step, *self.stride[dim + 1 :])
    return View(Spec.of(self.dtype, self.device, shape, strides), Start(2, extent, stride))


@view_rule
def as_strided(self: Spec, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> View:
    """`as_strided`: any geometry; the offset counts from the storage's start."""
    check(len(size) == len(stride), lambda: "mismatch in length of strides and shape")
    check(
        all(step >= 0 for step in stride),
        lambda: f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}",
    )
    check(
        all(extent >= 0 for extent in size),
        lambda: f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}",
    )

    def offset(base: Tensor, size: Sequence[int], stride: Sequence[int], wanted: int | None) -> int:
        start = base._offset if wanted is None else wanted
        if base._sig.spec.device.type != "meta":  # which torch lets reach anywhere
            check_fits(size, stride, start, base._sig.spec.itemsize, _room(base))
        found: int = start - base._offset
        return found

    return strided(self, size, stride, offset)


def _room(base: Tensor) -> int:
    """The bytes of the storage under a tensor, which may not have been asked for yet."""
    storage = getattr(base, "_storage", None)
    spec = base._sig.spec
    if storage is not None:
        return int(storage.nbytes())
    return memory_span(spec.shape, spec.stride, base._offset) * spec.itemsize if spec.numel else 0


@view_rule
def unbind(self: Spec, dim: int = 0) -> tuple[View, ...]:
    """`unbind`: every position along a dimension."""
    dim = wrap_dim(dim, self.ndim)
    check(self.ndim > 0, lambda: "Dimension specified as 0 but tensor has no dimensions", IndexError)
    shape, stride = self.shape[:dim] + self.shape[dim + 1 :], self.stride[:dim] + self.stride[dim + 1 :]
    return tuple(strided(self, shape, stride, index * self.stride[dim]) for index in range(self.shape[dim]))


def _pieces(self: Spec, dim: int, lengths: Sequence[int]) -> list[View]:
    found, start = [], 0
    for length in lengths:
        shape = (*self.shape[:dim], length, *self.shape[dim + 1 :])
        found.append(strided(self, shape, self.stride, start * self.stride[dim]))
        start += length
    return found


@view_rule
def split(self: Spec, split_size: int, dim: int = 0) -> tuple[View, ...]:
    """`split`: pieces of equal length, the last one shorter."""
    check(self.ndim > 0, lambda: "split expects at least a 1-dimensional tensor")
    check(split_size >= 0, lambda: f"split expects split_size be non-negative, but got split_size={split_size}")
    dim = wrap_dim(dim, self.ndim)
    extent = self.shape[dim]
    check(
        split_size > 0 or extent == 0,
        lambda: f"split_size can only be 0 if dimension size is 0, but got dimension size of {extent}",
    )
    lengths = [0] if extent == 0 else [min(split_size, extent - at) for at in range(0, extent, split_size)]
    return tuple(_pieces(self, dim, lengths))


@view_rule
def split_with_sizes(self: Spec, split_sizes: Sequence[int], dim: int = 0) -> tuple[View, ...]:
    """`split_with_sizes`: pieces of the given lengths, which must add up."""
    check(self.ndim > 0, lambda: "split expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, self.ndim)
    check(
        all(length >= 0 for length in split_sizes),
        lambda: (
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes="
            f"{shape_text(split_sizes)}"
        ),
    )
    check(
        sum(split_sizes) == self.shape[dim],
        lambda: (
            f"split_with_sizes expects split_sizes to sum exactly to {self.shape[dim]} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={shape_text(split_sizes)}"
        ),
    )
    return tuple(_pieces(self, dim, split_sizes))


@view_rule
def unfold(self: Spec, dimension: int, size: int, step: int) -> View:
    """`unfold`: windows along a dimension, as a new last dimension."""
    dim = wrap_dim(dimension, self.ndim)
    extent = self.shape[dim] if self.ndim else 1
    stride = self.stride[dim] if self.ndim else 1
    check(size >= 0, lambda: f"size is {size} but must be >= 0")
    check(
        size <= extent,
        lambda: f"maximum size for tensor at dimension {dim} is {extent} but size is {size}",
    )
    check(step > 0, lambda: f"step is {step} but must be > 0")
    shape, strides = list(self.shape), list(self.stride)
    if self.ndim:
        shape[dim], strides[dim] = (extent - size) // step + 1, stride * step
    return strided(self, [*shape, size], [*strides, stride])


@view_rule
def diagonal(self: Spec, offset: int = 0, dim1: int = 0, dim2: int = 1) -> View:
    """`diagonal`: a diagonal of two dimensions, as a new last dimension."""
    first, second = wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim)
    check(first != second, lambda: f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, columns = self.shape[first], self.shape[second]
    length = max(min(rows, columns - offset), 0) if offset >= 0 else max(min(rows + offset, columns), 0)
    start = 0
    if length:
        start = offset * self.stride[second] if offset >= 0 else -offset * self.stride[first]
    kept = [index for index in range(self.ndim) if index not in (first, second)]
    shape = [*(self.shape[i] for i in kept), length]
    return strided(self, shape, [*(self.stride[i] for i in kept), self.stride[first] + self.stride[second]], start)


@view_rule
def view_dtype(self: Spec, dtype: Dtype) -> View:
    """`view(dtype)`: the bytes read as another dtype; the last dimension changes with the item size."""
    old, new = self.itemsize, dtype.itemsize
    if old == new:
        return View(self.with_(dtype=dtype))
    check(
        self.ndim > 0,
        lambda: (
            f"self.dim() cannot be 0 to view {self.dtype.scalar_name} as {dtype.scalar_name} (different element sizes)"
        ),
    )
    check(
        self.stride[-1] == 1,
        lambda: (
            f"self.stride(-1) must be 1 to view {self.dtype.scalar_name} as {dtype.scalar_name} (different element "
            f"sizes), but got {self.stride[-1]}"
        ),
    )
    if old > new:
        ratio = old // new
        shape = (*self.shape[:-1], self.shape[-1] * ratio)
        stride = (*(step * ratio for step in self.stride[:-1]), 1)
    else:
        ratio = new // old
        check(
            self.shape[-1] % ratio == 0,
            lambda: (
                f"self.size(-1) must be divisible by {ratio} to view {self.dtype.scalar_name} as "
                f"{dtype.scalar_name} (different element sizes), but got {self.shape[-1]}"
            ),
        )
        shape = (*self.shape[:-1], self.shape[-1] // ratio)
        stride = (*(step // ratio for step in self.stride[:-1]), 1)
        return View(Spec.of(dtype, self.device, shape, stride), _wider(self, dtype, ratio))
    return View(
        Spec.of(dtype, self.device, shape, stride), lambda base, given: base._offset * old // new - base._offset
    )


def _wider(self: Spec, dtype: Dtype, ratio: int) -> Callable[[TensorBase, object], int]:
    """Return how far `view(dtype)` moves the start, in elements `ratio` times as wide: only there the offset is known,
    about which torch complains before it looks at the strides."""
    uneven = next((dim for dim, step in enumerate(self.stride[:-1]) if step % ratio), None)

    def fail(what: str, value: int) -> None:
        raise RuntimeError(
            f"self.{what} must be divisible by {ratio} to view {self.dtype.scalar_name} as {dtype.scalar_name} (different "
            f"element sizes), but got {value}"
        )

    def moved(base: TensorBase, given: object) -> int:
        offset = base._offset
        if offset % ratio:
            fail("storage_offset()", offset)
        if uneven is not None:
            fail(f"stride({uneven})", self.stride[uneven])
        return offset // ratio - offset

    return moved
