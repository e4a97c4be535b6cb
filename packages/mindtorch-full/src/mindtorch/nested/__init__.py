"""`torch.nested`: batches of tensors of different lengths, without padding, in the layout `torch.jagged`."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_dispatch.warn_once import warn_once
from mindtorch_storage.tensor_base import TensorBase

from . import _internal as _internal
from ._internal import functions as _functions
from ._internal import reductions as _reductions  # noqa: F401  # its functions answer for nested tensors
from ._internal import strided as _strided
from ._internal import strided_shapes as _strided_shapes  # noqa: F401 - gives strided ones their operators
from ._internal.nested_tensor import NestedTensor as _NestedTensor
from ._internal.nested_tensor import _rebuild_njt as _rebuild_njt
from ._internal.nested_tensor import jagged_from_list as _jagged_from_list
from ._internal.nested_tensor import view_of_values as _view_of_values

__all__ = [
    "as_nested_tensor",
    "masked_select",
    "narrow",
    "nested_tensor",
    "nested_tensor_from_jagged",
    "to_padded_tensor",
]

_PROTOTYPE = (
    "The PyTorch API of nested tensors is in prototype stage and will change in the near future. We recommend specifying "
    "layout=torch.jagged when constructing a nested tensor, as this layout receives active development, has better operator "
    "coverage, and works with torch.compile."
)


def _is_strided(layout: Any) -> bool:
    """Return whether the layout of a nested tensor is the strided one, which is in torch where none is given."""
    if layout is None or layout is torch.strided:
        warn_once(_PROTOTYPE, UserWarning)
        return True
    if layout is not torch.jagged:
        raise RuntimeError(f"Specified layout is unsupported for nested tensors: {layout}")
    return False


def nested_tensor(
    tensor_list: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Return a nested tensor over copies of tensors, a leaf.

    In the strided layout, which is the default, nested tensors have products, attention, layers and changes of shape alone.

    >>> x = torch.nested.nested_tensor([[1.0, 2.0], [3.0]], layout=torch.jagged)
    >>> [one.tolist() for one in x.unbind()]
    [[1.0, 2.0], [3.0]]
    """
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError("Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor")
    strided = _is_strided(layout)
    tensors = [
        one.detach() if isinstance(one, TensorBase) else torch.as_tensor(one, dtype=dtype) for one in tensor_list
    ]
    if strided:
        return _strided.from_list(tensors, dtype, device).requires_grad_(requires_grad)
    return _jagged_from_list(tensors, None, dtype, device)[0].requires_grad_(requires_grad)


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> Any:
    """Return a nested tensor of tensors, to which gradients flow.

    >>> torch.nested.as_nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged).values()
    tensor([1., 1., 1., 1., 1.])
    """
    if not isinstance(ts, (TensorBase, list, tuple)):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors ")
    if isinstance(ts, list | tuple) and not all(isinstance(one, TensorBase) for one in ts):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors ")
    if isinstance(ts, _NestedTensor):
        return ts if dtype is None and device is None else ts.to(dtype=dtype, device=device)
    tensors = list(ts.unbind(0)) if isinstance(ts, TensorBase) else list(ts)
    return (
        _strided.from_list(tensors, dtype, device)
        if _is_strided(layout)
        else _jagged_from_list(tensors, None, dtype, device)[0]
    )


def nested_tensor_from_jagged(
    values: Any,
    offsets: Any = None,
    lengths: Any = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> Any:
    """Return a nested tensor over packed elements and the offsets, or the lengths, of its tensors.

    >>> x = torch.nested.nested_tensor_from_jagged(torch.arange(5), torch.tensor([0, 2, 5]))
    >>> x.unbind()
    (tensor([0, 1]), tensor([2, 3, 4]))
    """
    if offsets is None:
        if lengths is None:
            raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        offsets = torch.nn.functional.pad(lengths.cumsum(0), [1, 0])
        lengths = None
    for position, (name, value) in enumerate((("input", values), ("offsets", offsets)), 1):
        if not isinstance(value, TensorBase):
            raise TypeError(
                f"_nested_view_from_jagged(): argument '{name}' (position {position}) must be Tensor, not "
                f"{type(value).__name__}"
            )
    known = {"min_seqlen": min_seqlen, "max_seqlen": max_seqlen}
    cache = {name: value for name, value in known.items() if value is not None}
    dim = 1 if jagged_dim is None else jagged_dim
    if dim < 1:
        raise ValueError(f"Expected jagged_dim >=1, but got {dim}.")
    return _view_of_values(values, offsets, lengths, dim, cache)


def narrow(tensor: Any, dim: int, start: Any, length: Any, layout: Any = torch.strided) -> torch.Tensor:
    """Return the nested tensor of a part of each row of a tensor, over its memory.

    >>> x = torch.nested.narrow(torch.arange(6).reshape(2, 3), 1, 0, torch.tensor([1, 3]), layout=torch.jagged)
    >>> x.unbind()
    (tensor([0]), tensor([3, 4, 5]))
    """
    for name, value in (("start", start), ("length", length)):
        if not isinstance(value, int | TensorBase):
            raise RuntimeError(f"{name} must be an integer or a tensor")
    if _is_strided(layout):
        if not (isinstance(start, int) and isinstance(length, int)):
            raise RuntimeError("start and length must be integers for the strided layout NT impl")
        return _strided.from_list([row.narrow(dim - 1, start, length) for row in tensor.unbind(0)], None, None)
    if dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    count, extent = tensor.shape[:2]

    def spread(value: Any) -> Any:
        whole = torch.as_tensor(value, dtype=torch.int64)
        if whole.dim() > 1 or (whole.dim() == 1 and whole.shape[0] not in (1, count)):
            raise RuntimeError(
                "When constructing a jagged nested tensor using narrow(), your start and length must be Tensors that broadcast "
                "to input.shape[0]"
            )
        return whole.expand(count)

    starts, lengths = spread(start), spread(length)
    begins = torch.arange(count) * extent + starts
    offsets = torch.cat([begins, begins[-1:] + lengths[-1:]])
    values = tensor.contiguous().flatten(0, 1)
    return _view_of_values(values, offsets, lengths.contiguous(), 1)


def masked_select(tensor: Any, mask: Any) -> Any:
    """Return the nested tensor of the elements where a mask is true, of each row along the last dimension.

    >>> torch.nested.masked_select(torch.arange(4).reshape(2, 2), torch.tensor([[True, False], [True, True]])).unbind()
    (tensor([0]), tensor([2, 3]))
    """
    if tensor.layout is not torch.strided:
        raise RuntimeError(f"torch.nested.masked_select requires a strided tensor, given {tensor.layout}")
    values = tensor.masked_select(mask)
    lengths = mask.expand(tensor.shape).sum(-1)
    return nested_tensor_from_jagged(values, lengths=lengths.flatten())


def to_padded_tensor(input: Any, padding: float, output_size: Any = None, out: Any = None) -> Any:
    """Return a dense tensor of a nested one, filled up behind each of its tensors.

    >>> x = torch.nested.nested_tensor([[1.0, 2.0], [3.0]], layout=torch.jagged)
    >>> torch.nested.to_padded_tensor(x, 0.0)
    tensor([[1., 2.],
            [3., 0.]])
    """
    if isinstance(input, _strided.StridedNestedTensor):
        return _strided.nested_to_padded_tensor(input, padding, output_size)
    return _functions.to_padded_tensor(input, padding, output_size)


_strided.StridedNestedTensor.to_padded_tensor = to_padded_tensor  # type: ignore[attr-defined]
_NestedTensor.to_padded_tensor = to_padded_tensor  # type: ignore[attr-defined]

adopt(globals())
