"""`NestedTensor`: tensors with one ragged dimension, packed one after the other in `values`, bounded by `offsets`."""

from __future__ import annotations

import itertools
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.autograd import Function
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.size import Size

from .nested_int import NestedInt as NestedInt
from .nested_int import _tensor_symint_registry as _tensor_symint_registry
from .nested_int import get_tensor_symint

__all__: list[str] = []

_functions = LazyModule("mindtorch.nested._internal.functions", "it makes tensors of this class")
_pointwise = LazyModule("mindtorch.nested._internal.pointwise", "the same")


_RAGGED = (
    "Cannot represent given tensor list as a nested tensor with the jagged layout. Note that the jagged layout only allows for "
    "a single ragged dimension. For example: (B, *, D_0, D_1, ..., D_N), with ragged * dim."
)
_PARTS = frozenset("_values _offsets _lengths _ragged_idx _size _strides _metadata_cache".split())


def _length_tensor(length: int | None) -> Any:
    """Return what torch keeps a length in, so that a tracer sees it as a size."""
    return None if length is None else torch.empty(length, 0)


class NestedTensor(torch.Tensor):
    """A tensor with a batch dimension, one ragged dimension and others; `torch.nested.nested_tensor` makes it.

    >>> x = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    >>> x.values().shape, x.offsets()
    (torch.Size([5]), tensor([0, 2, 5]))
    """

    _values: Any
    _offsets: Any
    _lengths: Any
    _ragged_idx: int
    _metadata_cache: dict[str, Any]

    @staticmethod
    def __new__(cls: Any, values: Any, offsets: Any, *, lengths: Any = None, **kwargs: Any) -> Any:
        """Return the tensor over these parts, which are shared."""
        ragged = kwargs.get("_ragged_idx", 1)
        size = get_tensor_symint(offsets if lengths is None else lengths)
        batch = offsets.shape[0] - 1
        inner = list(values.shape)
        sizes = (batch, *inner[: ragged - 1], size, *inner[ragged:])
        strides = (size * values.stride(ragged - 1), *values.stride())
        made = torch.Tensor._make_wrapper_subclass(
            cls, sizes, strides, 0, dtype=values.dtype, device=values.device, storage_size=0
        )
        made._values, made._offsets, made._lengths = values, offsets, lengths
        made._ragged_idx, made._size, made._strides = ragged, sizes, strides
        known = kwargs.get("_metadata_cache") or {}
        # Files have a length as the extent of a tensor without elements.
        made._metadata_cache = {key: one if isinstance(one, int) else one.shape[0] for key, one in known.items()}
        if kwargs.get("requires_grad"):
            made.requires_grad_()
        return made

    is_nested = property(lambda self: True, doc="Always True.")
    layout = property(lambda self: torch.jagged, doc="`torch.jagged`.")
    shape = property(
        lambda self: tuple.__new__(Size, self._size), doc="The extents, the ragged one among them as `j1`."
    )

    def size(self, dim: Any = None) -> Any:
        """Return the shape, or one extent."""
        if dim is None:
            return self.shape
        rank = len(self._size)
        if not -rank <= dim < rank:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
            )
        return self._size[dim]

    def stride(self, dim: int | None = None) -> Any:
        """Return the strides, or one of them."""
        return self._strides if dim is None else self._strides[dim]

    def numel(self) -> int:
        """Return the number of elements."""
        if self._lengths is None:
            return int(self._values.numel())
        packed = self._values.shape[self._ragged_idx - 1]
        return int(self._values.numel() // packed * int(self._lengths.sum())) if packed else 0

    nbytes = property(lambda self: self.numel() * self.element_size(), doc="The bytes of the elements.")

    def item(self) -> Any:
        """Return the only element."""
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self._values.item()

    def is_contiguous(self, memory_format: Any = torch.contiguous_format) -> bool:
        """Return whether the tensors lie one after the other without gaps."""
        return self._lengths is None and bool(self._values.is_contiguous())

    def values(self) -> Any:
        """Return the packed elements; gradients flow through it."""
        return _Values.apply(self) if self.requires_grad else self._values

    def offsets(self) -> Any:
        """Return where each tensor begins, and the end of the last."""
        return self._offsets

    def lengths(self) -> Any:
        """Return how long each tensor is, None where each ends at the next one's beginning."""
        return self._lengths

    def _bounds(self) -> list[tuple[int, int]]:
        """Return start and length of each tensor along the packed dimension."""
        starts = self._offsets.tolist()
        if self._lengths is not None:
            return list(zip(starts, self._lengths.tolist(), strict=False))
        return [(start, end - start) for start, end in itertools.pairwise(starts)]

    def _seqlen(self, name: str, choose: Any) -> int:
        if name not in self._metadata_cache:
            self._metadata_cache[name] = choose((length for _, length in self._bounds()), default=0)
        return int(self._metadata_cache[name])

    def _get_max_seqlen(self) -> int:
        return self._seqlen("max_seqlen", max)

    def _get_min_seqlen(self) -> int:
        return self._seqlen("min_seqlen", min)

    _max_seqlen = property(_get_max_seqlen, doc="The largest length.")

    def _longest(self) -> int:
        """Return the largest length where it is known, else the number of packed places, which is no less."""
        known = self._metadata_cache.get("max_seqlen")
        return int(self._values.shape[0] if known is None else known)

    _min_seqlen = property(_get_min_seqlen, doc="The smallest length.")
    _maybe_max_seqlen = property(
        lambda self: self._metadata_cache.get("max_seqlen"), doc="The largest length, if known."
    )
    _maybe_min_seqlen = property(
        lambda self: self._metadata_cache.get("min_seqlen"), doc="The smallest length, if known."
    )

    _max_seqlen_tensor = property(
        lambda self: _length_tensor(self._maybe_max_seqlen),
        doc="A tensor without elements, as long as the largest length; None where that is not known.",
    )
    _min_seqlen_tensor = property(
        lambda self: _length_tensor(self._maybe_min_seqlen),
        doc="A tensor without elements, as long as the smallest length; None where that is not known.",
    )

    def __repr__(self) -> str:  # type: ignore[override]  # its elements are not shown
        node = ""
        if self.grad_fn is not None:
            node = f", grad_fn={self.grad_fn}"
        elif self.requires_grad:
            node = ", requires_grad=True"
        return f"NestedTensor(size={self._size}, offsets={self._offsets}{node}, contiguous={self.is_contiguous()})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        parts = {
            "values": self._values,
            "offsets": self._offsets,
            "lengths": self._lengths,
            "_ragged_idx": self._ragged_idx,
            "_metadata_cache": {key: torch.empty(one, 0) for key, one in self._metadata_cache.items()},
            "requires_grad": self.requires_grad,
        }
        return torch._tensor._rebuild_from_type_v2, (_rebuild_njt, NestedTensor, (parts,), {})

    def __setstate__(self, state: Any) -> None:
        """Take the attributes that a program gave; the parts, which torch's files repeat, are there already."""
        given = {name: one for name, one in (state or {}).items() if name not in _PARTS}
        torch._utils._set_obj_state(self, given)

    def __deepcopy__(self, memo: Any) -> Any:
        made = memo[id(self)] = like(self, self._values.detach().clone()).requires_grad_(self.requires_grad)
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Shapes change on the packed elements; all else is computed by `__torch_dispatch__`."""
        kwargs = kwargs or {}
        answer = _functions.find(func)
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs) if answer is None else answer(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Elementwise operators, on the packed elements."""
        return _pointwise.compute(func, args, kwargs or {})


class _Values(Function):
    """The packed elements of a nested tensor."""

    @staticmethod
    def forward(ctx: Any, nested: Any) -> Any:
        ctx.nested = nested.detach()
        return nested._values.detach()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return like(ctx.nested, grads[0].contiguous())


class _FromValues(Function):
    """The nested tensor over packed elements."""

    @staticmethod
    def forward(ctx: Any, values: Any, offsets: Any, lengths: Any, options: Any) -> Any:
        return NestedTensor(values.detach(), offsets, lengths=lengths, **options)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0].values(), None, None, None


class ViewBufferFromNested(_Values):
    """The packed elements of a nested tensor: `buffer_from_jagged`."""


class ViewNestedFromBuffer(Function):
    """The nested tensor over packed elements, with what is known of its lengths."""

    @staticmethod
    def forward(ctx: Any, values: Any, offsets: Any, metadata_cache: dict[str, Any] | None = None) -> Any:
        return NestedTensor(values.detach(), offsets, _metadata_cache=metadata_cache)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0].values(), None, None


def view_of_values(values: Any, offsets: Any, lengths: Any = None, ragged: int = 1, cache: Any = None) -> Any:
    """Return the nested tensor over these parts; gradients flow to `values`."""
    options = {"_ragged_idx": ragged, "_metadata_cache": dict(cache or {})}
    if torch.is_grad_enabled() and values.requires_grad:
        return _FromValues.apply(values, offsets, lengths, options)
    return NestedTensor(values.detach(), offsets, lengths=lengths, **options)


def like(nested: Any, values: Any, ragged: int | None = None) -> Any:
    """Return a nested tensor with the raggedness of another one and other packed elements."""
    place = nested._ragged_idx if ragged is None else ragged
    return view_of_values(values, nested._offsets, nested._lengths, place, nested._metadata_cache)


def _known(min_seqlen: int | None, max_seqlen: int | None) -> dict[str, int]:
    known = {"min_seqlen": min_seqlen, "max_seqlen": max_seqlen}
    return {name: one for name, one in known.items() if one is not None}


def buffer_from_jagged(jagged: NestedTensor) -> Any:
    """Return the packed elements; gradients flow through it."""
    return ViewBufferFromNested.apply(jagged)


def nested_view_from_values_offsets(
    values: Any, offsets: Any, ragged_idx: int = 1, min_seqlen: int | None = None, max_seqlen: int | None = None
) -> Any:
    """Return the nested tensor over packed elements, each tensor of which ends where the next begins."""
    return view_of_values(values, offsets, None, ragged_idx, _known(min_seqlen, max_seqlen))


def nested_view_from_values_offsets_lengths(
    values: Any,
    offsets: Any,
    lengths: Any,
    ragged_idx: int = 1,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> Any:
    """Return the nested tensor over packed elements, each tensor of which begins at an offset and has a length."""
    return view_of_values(values, offsets, lengths, ragged_idx, _known(min_seqlen, max_seqlen))


def nested_from_padded(
    padded: Any,
    offsets: Any,
    ragged_idx: int = 1,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
    sum_S: int | None = None,
) -> Any:
    """Return the nested tensor of the leading elements of each row of a padded tensor; gradients flow to it."""
    lengths = offsets.diff()
    member = torch.repeat_interleave(torch.arange(lengths.shape[0], device=padded.device), lengths)
    place = torch.arange(member.shape[0], device=padded.device) - offsets[member]
    values = padded.movedim(ragged_idx, 1)[member, place]
    if sum_S is not None and sum_S > values.shape[0]:
        values = torch.cat([values, values.new_zeros((sum_S - values.shape[0], *values.shape[1:]))])
    known = _known(min_seqlen, max_seqlen)
    return view_of_values(values.movedim(0, ragged_idx - 1), offsets, None, ragged_idx, known)


def jagged_from_list(tensors: list[Any], offsets: Any, dtype: Any = None, device: Any = None) -> tuple[Any, Any]:
    """Return the nested tensor of a list and its offsets; torch's errors where it has more than one ragged dimension."""
    if not tensors:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    first = tensors[0]
    for what, kind in (("dtype", "dtype"), ("device", "device"), ("dim", "ndim")):
        if any(getattr(one, kind) != getattr(first, kind) for one in tensors):
            raise RuntimeError(f"When constructing a nested tensor, all tensors in list must have the same {what}")
    if not first.dim():
        raise RuntimeError("Cannot construct a nested tensor from a list of zero-dim tensors")
    differing = [dim for dim in range(first.dim()) if len({one.shape[dim] for one in tensors}) > 1]
    if len(differing) > 1:
        raise RuntimeError(_RAGGED)
    dim = differing[0] if differing else 0
    lengths = [one.shape[dim] for one in tensors]
    values = torch.cat(tensors, dim)
    if dtype is not None or device is not None:
        values = values.to(dtype=dtype, device=device)
    if offsets is None:
        offsets = torch.tensor([0, *lengths], dtype=torch.int64, device=values.device).cumsum(0)
    return view_of_values(values, offsets, None, dim + 1, _known(min(lengths), max(lengths))), offsets


def _rebuild_njt(constructor_kwargs: dict[str, Any]) -> Any:
    """Return the nested tensor that a file has the parts of."""
    return NestedTensor(**constructor_kwargs)


adopt(globals())
