"""Views composed of other views."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

from mindtorch_storage.dtype import bool as _BOOL
from mindtorch_storage.layout import contiguous_format as _CONTIGUOUS
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes, infer_size, view_strides

from ..call import aten
from ..deprecations import warn_of
from ..meta.checks import check, shape_text, wrap_dim
from ..override.interception import intercepted
from ..state import state
from ..typing import Tensor
from .single import Single


def _reshaped(self: Spec, shape: Sequence[int]) -> tuple[str, tuple[Any, ...]] | None:
    return ("view", (infer_size(shape, self.numel),)) if self.is_contiguous else None


@partial(Single, _reshaped)
def reshape(self: Tensor, shape: Sequence[int]) -> Any:
    """A view where the strides allow one, else a copy."""
    spec = self._sig.spec
    size = infer_size(shape, spec.numel)
    if spec.is_contiguous:
        return aten.view(self, shape)
    stride = view_strides(spec.shape, spec.stride, size)
    if stride is not None and intercepted(state.mode, (self,)):
        return aten.view(self, shape)
    if stride is not None:
        return aten._reshape_alias(self, size, stride)
    return aten._unsafe_view(aten.clone(self, memory_format=_CONTIGUOUS), size)


@partial(Single, lambda self, other: ("view", (other.shape,)))
def view_as(self: Tensor, other: Tensor) -> Any:
    """A view with the other tensor's shape."""
    return aten.view(self, other.shape)


@partial(Single, lambda self, other: _reshaped(self, other.shape))
def reshape_as(self: Tensor, other: Tensor) -> Any:
    """`reshape` to the other tensor's shape."""
    return aten.reshape(self, other.shape)


def broadcast_tensors(tensors: Sequence[Tensor]) -> list[Any]:
    """Every tensor expanded to the shape they broadcast to."""
    shape = broadcast_shapes(*[tuple(tensor.shape) for tensor in tensors])
    return [tensor if tuple(tensor.shape) == shape else aten.expand(tensor, list(shape)) for tensor in tensors]


@partial(Single, lambda self, other: ("expand", (other.shape,)))
def expand_as(self: Tensor, other: Tensor) -> Any:
    """`expand` to the other tensor's shape."""
    return aten.expand(self, other.shape)


def _flattened(self: Spec, start_dim: int, end_dim: int) -> tuple[str, tuple[Any, ...]] | None:
    shape = self.shape
    if not self.ndim:
        return None
    first, last = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    return (
        _reshaped(self, (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :])) if first < last else None
    )


@partial(Single, _flattened)
def flatten(self: Tensor, start_dim: int, end_dim: int) -> Any:
    """Dimensions from `start_dim` to `end_dim` joined into one."""
    shape = self.shape
    first, last = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    check(first <= last, lambda: "flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return aten.reshape(self, (1,))
    if first == last:
        return self
    joined = 1
    for extent in shape[first : last + 1]:
        joined *= extent
    return aten.reshape(self, (*shape[:first], joined, *shape[last + 1 :]))


def narrow(self: Tensor, dim: int, start: int, length: int) -> Any:
    """`length` positions from `start` along `dim`."""
    check(len(self.shape) > 0, lambda: "narrow() cannot be applied to a 0-dim tensor.")
    check(length >= 0, lambda: "narrow(): length must be non-negative.")
    extent = self.shape[wrap_dim(dim, len(self.shape))]
    check(
        -extent <= start <= extent,
        lambda: f"start out of range (expected to be in range of [{-extent}, {extent}], but got {start})",
        IndexError,
    )
    if start < 0:
        start += extent
    check(start <= extent - length, lambda: f"start ({start}) + length ({length}) exceeds dimension size ({extent}).")
    return aten.slice(self, dim, start, start + length, 1)


def _chunk_length(self: Tensor, chunks: int, dim: int) -> int:
    """Return the length of all chunks but the last, which is 0 of an empty dimension and beyond 64 bits."""
    check(len(self.shape) > 0, lambda: "chunk expects at least a 1-dimensional tensor")
    check(chunks > 0, lambda: f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    total = self.shape[wrap_dim(dim, len(self.shape))] + chunks - 1
    if total >= 2**63:  # torch's sum is of 64 bits, and `split` then refuses what comes out
        return -((2**64 - total) // chunks)
    return total // chunks


def chunk(self: Tensor, chunks: int, dim: int) -> Any:
    """At most `chunks` pieces of equal length, the last one shorter."""
    length = _chunk_length(self, chunks, dim)
    if length == 0 and self.shape[dim] == 0:
        return aten.split_with_sizes(self, [0] * chunks, dim)
    return aten.split(self, length, dim)


def split_sizes(self: Tensor, split_size: Sequence[int], dim: int) -> Any:
    """`split` by a list of lengths."""
    return aten.split_with_sizes(self, split_size, dim)


def movedim(self: Tensor, source: Sequence[int] | int, destination: Sequence[int] | int) -> Any:
    """Dimensions moved to new positions, the others in order."""
    source = (source,) if isinstance(source, int) else tuple(source)
    destination = (destination,) if isinstance(destination, int) else tuple(destination)
    count = len(self.shape)
    check(
        len(source) == len(destination),
        lambda: (
            "movedim: Invalid source or destination dims: source "
            f"({list(source)} dims) should contain the same number of dims as destination ({list(destination)} dims)"
        ),
    )
    from_dims = [wrap_dim(dim, count) for dim in source]
    to_dims = [wrap_dim(dim, count) for dim in destination]
    check(len(set(from_dims)) == len(from_dims), lambda: f"movedim: repeated dim in `source` ({list(source)})")
    check(len(set(to_dims)) == len(to_dims), lambda: f"movedim: repeated dim in `destination` ({list(destination)})")
    if count == 0:
        return aten.alias(self)
    order = [-1] * count
    for old, new in zip(from_dims, to_dims, strict=True):
        order[new] = old
    rest = iter(dim for dim in range(count) if dim not in from_dims)
    return aten.permute(self, [next(rest) if dim < 0 else dim for dim in order])


def transpose(self: Tensor, dim0: int, dim1: int) -> Any:
    """Two dimensions change places."""
    return aten.transpose(self, dim0, dim1)


@partial(Single, lambda self: ("permute", ((1, 0),)) if self.ndim == 2 else None)
def reverse_dims(self: Tensor) -> Any:
    """`Tensor.T`: all dimensions in reverse order."""
    if len(self.shape) != 2:
        warn_of("numpy_T" if self.shape else "T of 0-D")
    return aten.permute(self, list(range(len(self.shape)))[::-1])


@partial(Single, lambda self: ("transpose", (-2, -1)) if self.ndim > 1 else None)
def matrix_transpose(self: Tensor) -> Any:
    """`Tensor.mT`: the last two dimensions change places."""
    check(
        len(self.shape) >= 2 or not self.shape,
        lambda: f"tensor.mT is only supported on matrices or batches of matrices. Got {len(self.shape)}-D tensor.",
    )
    if not self.shape:
        warn_of("mT of 0-D")
    return aten.transpose(self, -2, -1) if self.shape else self


def transpose_(self: Tensor, dim0: int, dim1: int) -> Any:
    """`transpose_` under its other names."""
    return aten.transpose_(self, dim0, dim1)


def broadcast_to(self: Tensor, size: Sequence[int]) -> Any:
    """`expand` under numpy's name."""
    return aten.expand(self, size)


def narrow_tensor(self: Tensor, dim: int, start: Tensor, length: int) -> Any:
    """`narrow` from a position held in a tensor."""
    check(
        not start.shape and not (start.dtype.is_floating_point or start.dtype.is_complex or start.dtype is _BOOL),
        lambda: "start must be an 0-dim integral Tensor.",
    )
    return aten.narrow(self, dim, int(start.item()), length)


def conjugate_transpose(self: Tensor) -> Any:
    """`Tensor.mH`: `mT`, conjugated."""
    check(
        len(self.shape) >= 2 or not self.shape,
        lambda: f"tensor.mH is only supported on matrices or batches of matrices. Got {len(self.shape)}-D tensor.",
    )
    return aten.conj(aten.transpose(self, -2, -1)) if self.shape else aten.conj(self)


def adjoint(self: Any) -> Any:
    """`mH` as a function."""
    if not self.shape:
        warn_of("adjoint of 0-D")
        return aten.conj(self)
    check(
        len(self.shape) >= 2,
        lambda: (
            f"tensor.adjoint() is only supported on matrices or batches of matrices. Got {len(self.shape)}-D tensor."
        ),
    )
    return aten.conj(aten.transpose(self, -2, -1))


def matrix_h(self: Tensor) -> Any:
    """`Tensor.H`: the conjugate transpose of a matrix."""
    count = len(self.shape)
    check(
        count in (0, 2),
        lambda: (
            f"tensor.H is only supported on matrices (2-D tensors). Got {count}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if count > 2 else "")
        ),
    )
    return aten.conj(aten.transpose(self, 0, 1)) if count else aten.conj(self)


def sum_to_size(self: Tensor, size: Sequence[int]) -> Any:
    """The sum over every dimension that broadcasting `size` to this shape would stretch."""
    size, shape = tuple(size), tuple(self.shape)
    lead = len(shape) - len(size)
    check(
        lead >= 0 and all(want in (1, have) for want, have in zip(size, shape[max(lead, 0) :], strict=False)),
        lambda: f"size {{{shape_text(size)}}} is not expandable to size {{{shape_text(shape)}}}.",
    )
    if not size:
        return aten.sum(self)
    dims = [*range(lead), *(lead + i for i, want in enumerate(size) if want == 1 and shape[lead + i] != 1)]
    if dims:
        self = aten.sum(self, dims, True)
    return aten.view(self, size) if lead else self


def unlinked(piece: Any) -> Any:
    """Make what shares memory with its source no view of it to autograd, and return it.

    For sources that nobody else holds: torch changes their shape in place there.
    """
    piece._view = None
    piece._counter = [0]
    return piece


def _unlinked(pieces: Any) -> tuple[Any, ...]:
    return tuple(unlinked(one) for one in pieces)


def unsafe_split(self: Tensor, split_size: int, dim: int) -> Any:
    """`split` whose pieces may be written into."""
    return _unlinked(aten.split.Tensor(self, split_size, dim))


def unsafe_split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int) -> Any:
    """`split_with_sizes` whose pieces may be written into."""
    return _unlinked(aten.split_with_sizes(self, split_sizes, dim))


def unsafe_chunk(self: Tensor, chunks: int, dim: int) -> Any:
    """`chunk` whose pieces may be written into."""
    length = _chunk_length(self, chunks, dim)
    if length == 0 and self.shape[dim] == 0:
        return aten.unsafe_split_with_sizes(self, [0] * chunks, dim)
    return aten.unsafe_split.Tensor(self, length, dim)


def slice_inverse(
    self: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    """What a slice was cut from: the geometry of `src` over the memory of `self`."""
    spec = src._sig.spec
    return aten.as_strided(self, list(spec.shape), list(spec.stride), src._offset)
