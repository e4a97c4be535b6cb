"""Making quantized tensors of integers and reading their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import qint8, qint32, quint8
from mindtorch_storage.quantized import INTEGERS, PACKED, PER_TENSOR, QuantizedArray, QuantizedSpec, Quantizer
from mindtorch_storage.tensor_base import TensorBase, ViewInfo, has_bytes, make_tensor

from ..call import aten
from ..interface.wiring import wired
from ..meta.checks import check
from ..warn_once import warn_once

_DEPRECATED = (
    "torch.quantize_per_tensor, torch.quantize_per_channel and other quantized tensor creation functions that produce "
    "tensors with dtype torch.quint8, torch.qint8, and torch.qint32 are deprecated and will be removed in a future PyTorch "
    "release. Please see https://github.com/pytorch/pytorch/issues/184982 for more information."
)


def is_quantized(tensor: Any) -> bool:
    """True for quantized tensors, False for others and for numbers."""
    return isinstance(tensor, TensorBase) and type(tensor._sig.spec) is QuantizedSpec


def integers(tensor: TensorBase) -> Any:
    """Return the plain tensor of integers that shares the memory of a quantized one."""
    return tensor._array.integers


def quantizer(tensor: TensorBase) -> Quantizer:
    """Return what says which numbers the integers are."""
    found: Quantizer = tensor._array.quantizer
    return found


def over(whole: Any, dtype: Dtype, given: Quantizer, shape: Any = None) -> Any:
    """Return the quantized tensor over the memory of a tensor of integers; those that are packed need their shape told."""
    spec = whole._sig.spec
    packed = dtype in PACKED
    geometry = QuantizedSpec.of_integers(
        dtype, spec.device, spec.shape if shape is None else shape, None if packed else spec.stride
    )
    storage = whole._storage if has_bytes(whole) else whole._materialized_storage()
    array = QuantizedArray(whole, given)
    return make_tensor(wired.tensor_class, geometry.plain, array, storage, whole._offset, whole._counter)


def new(whole: Any, dtype: Dtype, given: Quantizer, shape: Any = None) -> Any:
    """Return a quantized tensor over integers that were made for it; says once that torch will have no such tensors."""
    if dtype in (quint8, qint8, qint32):
        warn_once(_DEPRECATED)
    return over(whole, dtype, given, shape)


def like(tensor: TensorBase, whole: Any, given: Quantizer | None = None) -> Any:
    """Return a quantized tensor of the dtype of another one, with its quantizer unless one is given."""
    return new(whole, tensor.dtype, quantizer(tensor) if given is None else given)


def shaped(tensor: TensorBase, change: Callable[[Any], Any], given: Quantizer | None = None) -> Any:
    """Return the view of a quantized tensor that `change` makes of its integers."""
    check(tensor.dtype not in PACKED, lambda: "Setting strides is not supported for tensors of several elements a byte")
    changed = change(integers(tensor))
    chosen = quantizer(tensor) if given is None else given
    if isinstance(changed, (list, tuple)):
        return [view_of(tensor, over(one, tensor.dtype, chosen)) for one in changed]
    return view_of(tensor, over(changed, tensor.dtype, chosen))


def view_of(base: TensorBase, view: TensorBase) -> Any:
    """Return `view` after noting what it is a view of."""
    above = base._view
    root = base if above is None else above.base
    view._view = ViewInfo(root, root._counter[0], "default")
    return view


def replace(tensor: TensorBase, new_one: TensorBase) -> TensorBase:
    """Give `tensor` the memory, the geometry and the quantizer of `new_one`."""
    tensor._sig, tensor._array = new_one._sig, new_one._array
    tensor._storage, tensor._offset = new_one._storage, new_one._offset
    return tensor


def per_tensor(tensor: TensorBase) -> Quantizer:
    """Return the quantizer of a tensor with one scale; torch's error for one with several."""
    given = quantizer(tensor)
    check(given.scheme is PER_TENSOR, lambda: _expected("quantizer->qscheme() == kPerTensorAffine"))
    return given


def per_channel(tensor: TensorBase) -> Quantizer:
    """Return the quantizer of a tensor with several scales; torch's error for one with a single."""
    given = quantizer(tensor)
    check(
        given.scheme is not PER_TENSOR,
        lambda: _expected(
            "quantizer->qscheme() == kPerChannelAffine || quantizer->qscheme() == kPerChannelAffineFloatQParams"
        ),
    )
    return given


def _expected(condition: str) -> str:
    return (
        f"Expected {condition} to be true, but got false.  (Could this error message be improved?  If so, please report an "
        "enhancement request to PyTorch.)"
    )


def integer_dtype(dtype: Dtype) -> Dtype:
    """Return the dtype of the integers of a quantized dtype; torch's error for another dtype."""
    check(dtype in INTEGERS, lambda: f"ScalarType {dtype.scalar_name} is not supported in new_qtensor.")
    return INTEGERS[dtype]


def empty(size: Any, dtype: Dtype, given: Quantizer, device: Any = None, memory_format: Any = None) -> Any:
    """Return a quantized tensor whose integers are not set."""
    kind = integer_dtype(dtype)
    if dtype in PACKED:
        count = 1
        for extent in size:
            count *= extent
        whole = aten.empty([-(-count // PACKED[dtype])], dtype=kind, device=device)
        return new(whole, dtype, given, tuple(size))
    return new(aten.empty(list(size), dtype=kind, device=device, memory_format=memory_format), dtype, given)


def checked(given: Quantizer, shape: Any, what: str = "quantization") -> Quantizer:
    """Return a quantizer for a tensor of this shape; torch's errors where it does not fit."""
    axis = given.axis
    if axis is None:
        return given
    between = ": " if what == "quantization" else ":"
    after = "" if what == "quantization" else " "
    check(
        0 <= axis < len(shape),
        lambda: (
            f"Channel axis out of range in per channel affine {what}. Got{between}{axis}{after}Expected: [0, {len(shape)})"
        ),
    )
    count = given.scale.shape[0]
    check(shape[axis] == count, lambda: f"length of scales must equal to channel, expected {shape[axis]} got, {count}")
    return given
