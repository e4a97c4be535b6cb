"""Nested tensors of the strided layout: tensors of one number of dimensions and any sizes, which inference computes with.

Each of the tensors keeps its own history, and operators compute tensor by tensor, so that gradients flow as they do without
nesting. What torch has no kernel for on such tensors raises here too, and so do many that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

__all__: list[str] = []

_SIZES = "Internal error: NestedTensorImpl doesn't support {}. Please file an issue."


class StridedNestedTensor(torch.Tensor):
    """Tensors of different sizes in one; `torch.nested.nested_tensor` makes it where no layout is given.

    >>> x = torch.nested.nested_tensor([torch.ones(2), torch.zeros(3)])
    >>> x.is_nested, x.size(0), x.dim()
    (True, 2, 2)
    """

    _parts: tuple[Any, ...]
    _buffer: Any
    """The elements of all parts in one dimension where the parts are views of it, else None."""

    @staticmethod
    def __new__(cls: Any, parts: Sequence[Any], dtype: Any = None, device: Any = None, buffer: Any = None) -> Any:
        """Return the tensor of these tensors, which are not copied."""
        first = parts[0] if parts else torch.empty(0, dtype=dtype, device=device)
        count = sum(one.numel() for one in parts)
        made = torch.Tensor._make_wrapper_subclass(cls, (count,), dtype=first.dtype, device=first.device)
        made._parts = tuple(parts)
        made._buffer = buffer
        return made

    is_nested = property(lambda self: True, doc="Always True.")
    data = property(lambda self: self.detach(), doc="The tensor without its history.")

    @property
    def shape(self) -> Any:  # type: ignore[override]  # there is none
        """RuntimeError: sizes differ."""
        raise RuntimeError(_SIZES.format("sizes"))

    def size(self, dim: Any = None) -> Any:
        """Return the extent of a dimension in which the tensors agree; RuntimeError of torch for others."""
        if dim is None:
            raise RuntimeError(_SIZES.format("sizes"))
        rank = self.dim()
        if not -rank <= dim < rank:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
            )
        if dim % rank == 0:
            return len(self._parts)
        extents = {part.shape[dim % rank - 1] for part in self._parts}
        if len(extents) != 1:
            raise RuntimeError(f"Given dimension {dim % rank} is irregular and does not have a size.")
        return extents.pop()

    def stride(self, dim: int | None = None) -> Any:
        """RuntimeError: strides differ."""
        raise RuntimeError(_SIZES.format("strides"))

    def dim(self) -> int:
        """Return the number of dimensions, that of the batch included; 1 where there is no tensor."""
        return 1 + max((part.dim() for part in self._parts), default=0)

    ndim = property(dim, doc="`dim()`.")

    def numel(self) -> int:
        """Return the number of elements of all tensors."""
        return sum(part.numel() for part in self._parts)

    def is_contiguous(self, memory_format: torch.memory_format = torch.contiguous_format) -> bool:
        """Return whether each tensor is contiguous."""
        return all(part.is_contiguous() for part in self._parts)

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to one of the tensors."""
        return any(part.requires_grad for part in self._parts)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        for part in self._parts:
            part.requires_grad_(value)

    @property
    def is_leaf(self) -> bool:
        """Whether no operator that gradients flow through made the tensor."""
        return all(part.is_leaf for part in self._parts)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set `requires_grad` and return this tensor."""
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Any:  # type: ignore[override]  # a tensor's own is a slot
        """The gradients that came to the tensors, zeros where to some of them none came; None before any did."""
        if all(part.grad is None for part in self._parts):
            return None
        return StridedNestedTensor([torch.zeros_like(part) if part.grad is None else part.grad for part in self._parts])

    @grad.setter
    def grad(self, value: Any) -> None:
        grads = [None] * len(self._parts) if value is None else value.unbind()
        for part, grad in zip(self._parts, grads, strict=True):
            part.grad = grad

    def backward(self, gradient: Any = None, *options: Any, **named: Any) -> None:
        """Send the tensors of a nested gradient through the histories of this one's."""
        torch.autograd.backward(self._parts, None if gradient is None else gradient._parts, *options, **named)

    def _nested_tensor_size(self) -> Any:
        """Return the sizes, a row for each tensor."""
        return torch.tensor([list(part.shape) for part in self._parts], dtype=torch.int64)

    def __repr__(self) -> str:  # type: ignore[override]
        rows = ",\n".join("  " + repr(part.detach()).replace("\n", "\n  ") for part in self._parts)
        return f"nested_tensor([\n{rows}\n]{', requires_grad=True' if self.requires_grad else ''})"

    def __getitem__(self, index: Any) -> Any:
        return _table["__getitem__"](self, index)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What is known is computed tensor by tensor; NotImplementedError for all else."""
        name = getattr(func, "__name__", "")
        answer = func if name in ("__get__", "__set__") else _table.get(name)
        if answer is None:
            raise _not_offered(name)
        with torch._C.DisableTorchFunctionSubclass():
            return answer(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """NotImplementedError: operators are answered as functions, before they get here."""
        raise _not_offered(func._schema.name.partition("::")[2])


_table: dict[str, Callable[..., Any]] = {}


def _not_offered(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'NestedTensorCPU' backend: nested tensors of the strided layout "
        "have no such operator here; give layout=torch.jagged for others"
    )


def _each(name: str) -> Callable[..., Any]:
    """Return what calls a function of torch for each tensor, nested operands of one length taken together."""

    def computed(*args: Any, **named: Any) -> Any:
        count = len(next(one for one in args if isinstance(one, StridedNestedTensor))._parts)
        for one in args[:2] if name in _OF_TWO else ():
            if isinstance(one, StridedNestedTensor) and len(one._parts) != count:
                raise RuntimeError(f"{name.strip('_')} does not support broadcasting when given a NestedTensor")
            if isinstance(one, torch.Tensor) and one.dim() and not isinstance(one, StridedNestedTensor):
                raise RuntimeError(
                    "Expected both self and other to be nested, but got a nested self and non-nested other"
                )
        function = next(getattr(home, name) for home in _HOMES if hasattr(home, name))
        rows = [
            [one._parts[at] if isinstance(one, StridedNestedTensor) else one for one in args] for at in range(count)
        ]
        made = [function(*row, **named) for row in rows]
        return args[0] if name.endswith("_") and not name.endswith("__") else StridedNestedTensor(made)

    return computed


_HOMES = (torch.Tensor, torch.nn.functional, torch)
_OF_TWO = frozenset("add add_ mul mul_ sub div __add__ __radd__ __mul__ __rmul__ __sub__ __truediv__".split())
_SCALAR_NAMES = {"float32": "Float", "float64": "Double", "int64": "Long", "int32": "Int", "uint8": "Byte"}
for _name in (
    "abs add add_ clone cos detach div dropout gelu linear logical_not mul mul_ neg relu relu_ sgn silu sin sqrt "
    "sub tanh to type float double half bfloat16 _addmm_activation __add__ __radd__ __mul__ __rmul__ __sub__ __truediv__ "
    "__neg__ zeros_like ones_like empty_like randn_like fill_ zero_ masked_fill ge gt __ge__ __gt__ int long short bool cpu"
).split():
    _table[_name] = _each(_name)


def _answers(function: Callable[..., Any]) -> Callable[..., Any]:
    _table[function.__name__.removesuffix("_of_nested")] = function
    return function


@_answers
def unbind(input: StridedNestedTensor, dim: int = 0) -> tuple[Any, ...]:
    """The tensors."""
    if dim not in (0, -input.dim()):
        raise RuntimeError(f"NestedTensor can only be unbound along dimension 0 got dimension {dim} instead.")
    return tuple(input._parts)


@_answers
def contiguous(input: StridedNestedTensor, memory_format: torch.memory_format = torch.contiguous_format) -> Any:
    """The tensor itself where its parts are contiguous."""
    if input.is_contiguous():
        return input
    return StridedNestedTensor([part.contiguous() for part in input._parts])


@_answers
def values(input: StridedNestedTensor) -> Any:
    """All elements in one dimension; they share the tensor's memory where that is in one piece."""
    if input._buffer is not None and input._buffer.requires_grad == input.requires_grad:
        return input._buffer
    return torch.cat([part.reshape(-1) for part in input._parts])


@_answers
def softmax(input: StridedNestedTensor, dim: int, *rest: object, **named: object) -> Any:
    """Softmax over a dimension other than the batch's."""
    place = dim % input.dim()
    if place == 0:
        raise RuntimeError("Cannot apply softmax across nested dimension 0")
    return StridedNestedTensor([torch.softmax(part, place - 1) for part in input._parts])


@_answers
def layer_norm(
    input: StridedNestedTensor,
    normalized_shape: Any,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> Any:
    """Normalization of the last dimensions."""
    if weight is None or bias is None:
        raise ValueError("NestedTensor layer_norm requires weight and bias")
    norm = torch.nn.functional.layer_norm
    return StridedNestedTensor([norm(part, normalized_shape, weight, bias, eps) for part in input._parts])


@_answers
def transpose(input: StridedNestedTensor, dim0: int, dim1: int) -> Any:
    """Two dimensions other than the batch's, exchanged."""
    one, other = dim0 % input.dim(), dim1 % input.dim()
    if 0 in (one, other):
        raise RuntimeError("Nested tensor dimension 0 cannot be transposed")
    return StridedNestedTensor([part.transpose(one - 1, other - 1) for part in input._parts])


@_answers
def is_same_size(input: Any, other: Any) -> bool:
    """Whether two nested tensors have the same sizes."""
    for first, second, words in ((input, other, ("not nested", "nested")), (other, input, ("nested", "not nested"))):
        if not first.is_nested and second.is_nested:
            raise RuntimeError(
                f"Expected both self and other to be nested tensors. Self is {words[0]}. While Other is {words[1]}."
            )
    return [part.shape for part in input._parts] == [part.shape for part in other._parts]


@_answers
def nested_to_padded_tensor(
    input: StridedNestedTensor, padding: float, output_size: Sequence[int] | None = None
) -> Any:
    """A dense tensor of the largest sizes, filled up behind each tensor."""
    if not input._parts:
        return torch.empty(0, dtype=input.dtype, device=input.device)
    largest = [max(extents) for extents in zip(*(part.shape for part in input._parts), strict=True)]
    size = [len(input._parts), *largest] if output_size is None else list(output_size)
    if any(wanted < needed for wanted, needed in zip(size[1:], largest, strict=True)):
        raise RuntimeError("Value in output_size is less than NestedTensor padded size. Truncation is not supported.")
    padded = []
    for part in input._parts:
        behind = [
            amount for wanted, have in zip(size[:0:-1], part.shape[::-1], strict=True) for amount in (0, wanted - have)
        ]
        padded.append(torch.nn.functional.pad(part, behind, value=padding))
    return torch.stack(padded)


@_answers
def _native_multi_head_attention(
    query: StridedNestedTensor, key: StridedNestedTensor, value: StridedNestedTensor, *rest: Any, **named: Any
) -> Any:
    """Attention within each tensor; the weights are padded with zeros, as their sizes differ."""
    options = dict(zip(_OPTIONS, rest, strict=False), **named)
    if options.pop("mask", None) is not None:
        raise RuntimeError("NestedTensor with mask is not supported yet")
    outputs, weights = [], []
    same = query is key is value
    for one, other, third in zip(query._parts, key._parts, value._parts, strict=True):
        q = one.unsqueeze(0)
        k, v = (q, q) if same else (other.unsqueeze(0), third.unsqueeze(0))
        output, weight = torch._native_multi_head_attention(q, k, v, **{**options, "mask_type": None})
        outputs.append(output.squeeze(0))
        weights.append(None if weight is None else weight.squeeze(0))
    if not weights or weights[0] is None:
        return StridedNestedTensor(outputs), None
    return StridedNestedTensor(outputs), nested_to_padded_tensor(StridedNestedTensor(weights), 0.0)


_OPTIONS = "embed_dim num_head qkv_weight qkv_bias proj_weight proj_bias mask need_weights average_attn_weights mask_type".split()


def from_list(tensors: Sequence[Any], dtype: Any, device: Any) -> Any:
    """Return the nested tensor of copies of tensors, in one piece of memory; RuntimeError for other numbers of dimensions."""
    for place, one in enumerate(tensors[1:], 1):
        if one.dim() != tensors[0].dim():
            raise RuntimeError(
                f"All Tensors given to nested_tensor must have the same dimension. Found dimension {one.dim()} for Tensor at "
                f"index {place} and dimension {tensors[0].dim()} for Tensor at index 0."
            )
    kind = dtype if dtype is not None or not tensors else tensors[0].dtype
    if not tensors:
        return StridedNestedTensor([], dtype, device)
    buffer = torch.cat([one.to(dtype=kind, device=device).reshape(-1) for one in tensors])
    pieces = buffer.split([one.numel() for one in tensors])
    parts = [piece.view(one.shape) for piece, one in zip(pieces, tensors, strict=True)]
    return StridedNestedTensor(parts, dtype, device, buffer)


def _nested_tensor_from_mask(t: torch.Tensor, mask: torch.Tensor, mask_check: bool = True) -> Any:
    """Return the nested tensor of the leading elements of each row, as many as the mask has."""
    if mask.dtype is not torch.bool:
        name = str(mask.dtype).removeprefix("torch.")
        raise RuntimeError(f"Expected mask to be of ScalarType Bool, but got {_SCALAR_NAMES.get(name, name)} instead.")
    if mask.dim() != 2:
        raise RuntimeError("Padding mask should be 2D")
    if t.dim() != 3:
        raise RuntimeError("Input should be a 3D tensor, N * L * D")
    if tuple(t.shape[:2]) != tuple(mask.shape):
        raise RuntimeError("Mask size should match input size")
    if mask_check and not _nested_tensor_from_mask_left_aligned(t, mask):
        raise RuntimeError("Mask must be left-aligned without gaps")
    counts = mask.sum(1).tolist()
    return StridedNestedTensor([row[:count].clone() for row, count in zip(t, counts, strict=True)])


def _nested_tensor_from_mask_left_aligned(t: torch.Tensor, mask: torch.Tensor) -> bool:
    """Return whether the mask of each row holds for its first elements alone."""
    counts = mask.sum(1, keepdim=True)
    return bool(torch.equal(torch.arange(mask.shape[1]) < counts, mask))


adopt(globals())
