"""Making tensors of Python data: `torch.tensor` and the legacy constructor."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.defaults import chosen_device, get_default_device, get_default_dtype
from mindtorch_dispatch.execute.arrays import assign
from mindtorch_dispatch.execute.errstate import SILENT, enter, leave
from mindtorch_dispatch.frames import frames_to_caller
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.state import fresh_signature, state
from mindtorch_dispatch.warn_once import warn_once
from mindtorch_storage import dtype as dtypes
from mindtorch_storage.device import device as Device
from mindtorch_storage.layout import sparse_coo
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.spec import Spec
from mindtorch_storage.storage import TypedStorage, UntypedStorage
from mindtorch_storage.storage.elements import c_name, class_name
from mindtorch_storage.storage.memory import no_memory, no_memory_in_torchs_words
from mindtorch_storage.tensor_base import TensorBase, make_tensor

from .legacy_devices import check_legacy_device, check_new_device
from .legacy_sizes import no_form, sizes_of
from .literals import first_leaf, holds_foreign_sequence, leading_shape, leaves, plain_sequences, typed_array
from .native import parsed_by
from .new_sparse import new_sparse
from .subclassing import become

LEGACY_ARGUMENT = " for argument 1 'storage'"
"""How the legacy constructors end their refusal of a storage."""


def legacy_new(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any], dtype: Any = None) -> Any:
    """`torch.Tensor(...)`: sizes, data, a storage, a tensor to alias, or nothing; on the CPU, whatever the default device."""
    check_legacy_device(device := kwargs.pop("device", None), args or tuple(kwargs.values()))
    if kwargs and set(kwargs) not in ({"data"}, {"size"}):
        raise TypeError(f"new() received an unexpected keyword argument '{next(iter(kwargs))}'")
    args = args or tuple(kwargs.get("size", kwargs.values()))
    made = _legacy(args, Device("cpu" if device is None else device), dtype)
    return made if cls is wired.tensor_class else become(made, cls)


def new(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a new tensor of this one's dtype on its device: of sizes, of data, of a tensor to alias, or empty; for a
    sparse tensor of indices, values and a size, too.

    >>> torch.ones(2, dtype=torch.float64).new([3]).dtype
    torch.float64
    """
    given = kwargs.pop("device", None)
    device = Device(self.device if given is None else given)
    check_new_device(given, args, self.device.type)
    if kwargs and set(kwargs) not in ({"data"}, {"size"}):
        raise TypeError(f"new() received an unexpected keyword argument '{next(iter(kwargs))}'")
    args = args or tuple(kwargs.get("size", kwargs.values()))
    if self.layout is sparse_coo:
        return new_sparse(args, {"dtype": self.dtype, "device": device})
    if len(args) == 1 and isinstance(args[0], TensorBase) and args[0].dtype is not self.dtype:
        raise TypeError(f"expected {_options_text(self)} (got {_options_text(args[0])})")
    return _legacy(args, device, self.dtype)


def _options_text(tensor: Any) -> str:
    return (
        f"TensorOptions(dtype={c_name(tensor.dtype)}, device={tensor.device}, layout=Strided, "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def _legacy(args: tuple[Any, ...], device: Any, dtype: Any = None) -> Any:
    dtype = dtype or get_default_dtype()
    if not args:
        return aten.empty([0], dtype=dtype, device=device)
    first = args[0]
    if len(args) == 1 and isinstance(first, TensorBase):
        return aten.alias(first)
    if len(args) == 1 and isinstance(first, (UntypedStorage, TypedStorage)):
        return of_storage(first, dtype, device, LEGACY_ARGUMENT)
    if (sizes := sizes_of(args)) is not None:
        return aten.empty(sizes, dtype=dtype, device=device)
    if len(args) > 1:
        raise no_form(args)
    if isinstance(first, tuple) and type(first).__name__ == "Size":
        return aten.empty(list(first), dtype=dtype, device=device)
    if isinstance(first, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(first, (Sequence, np.ndarray)):
        return from_data(first, dtype, device)
    raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")


def _check_nesting(data: Any) -> None:
    """Raise torch's errors for ragged nesting and for what is no number."""
    if isinstance(data, (list, tuple)):
        _check_level(data, leading_shape(data), 0)


def _check_level(data: Any, shape: list[int], depth: int) -> None:
    if depth >= len(shape):
        if isinstance(data, (list, tuple)):
            raise TypeError(f"must be real number, not {type(data).__name__}")
        return
    if not isinstance(data, (list, tuple, np.ndarray, TensorBase)):
        if isinstance(data, str) or not hasattr(data, "__len__"):
            raise TypeError("not a sequence")
        return
    if isinstance(data, TensorBase) and not data._sig.spec.shape:
        raise TypeError("not a sequence")
    level: Any = data
    if len(level) != shape[depth]:
        raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(level)})")
    for item in level:
        _check_level(item, shape, depth + 1)


def infer_dtype(data: Any) -> Any:
    """Return the dtype torch infers for nested Python data."""
    kinds: set[Any] = set()
    leading_shape(data)
    for leaf in leaves(data):
        if isinstance(leaf, TensorBase):
            kinds.add(leaf.dtype)
        elif isinstance(leaf, np.ndarray | np.generic):
            kinds.add(dtypes.from_numpy(leaf.dtype))
        elif isinstance(leaf, bool):
            kinds.add(dtypes.bool)
        elif isinstance(leaf, int):
            kinds.add(dtypes.int64)
        elif isinstance(leaf, float):
            kinds.add(get_default_dtype())
        elif isinstance(leaf, complex):
            kinds.add(get_default_dtype().to_complex())
        elif isinstance(leaf, str):
            if leaf is data or leaf is not first_leaf(data):
                raise TypeError("new(): invalid data type 'str'")
            raise ValueError("too many dimensions 'str'")
        else:
            raise RuntimeError(f"Could not infer dtype of {class_name(leaf)}")
    if not kinds:
        return get_default_dtype()
    return max(
        kinds, key=lambda dtype: (dtype.is_complex, dtype.is_floating_point, dtype is not dtypes.bool, dtype.itemsize)
    )


def _to_array(data: Any, dtype: Any) -> Any:
    if isinstance(data, np.ndarray):
        array = data
        if not array.dtype.isnative:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. Conversion between byte orders "
                "is currently not supported."
            )
        if any(step < 0 for step in array.strides):
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
                "currently supported. (You can probably work around this by making a copy of your array  with "
                "array.copy().) "
            )
    elif isinstance(data, np.generic):
        array = np.asarray(data)
    else:
        if isinstance(data, (list, tuple)):
            leaf = first_leaf(data)
            if isinstance(leaf, np.ndarray):
                data = _plain_nesting(data)
            _check_nesting(data)
            if isinstance(leaf, TensorBase):
                data = _plain_nesting(data)
        try:
            array = typed_array(data, dtype)
        except MemoryError:
            raise no_memory(_items(data) * dtype.itemsize) from None
    return array


def _items(data: Any) -> int:
    """How many numbers the sequences hold, of which all of one depth are of one length."""
    count = 1
    while isinstance(data, (list, tuple)) and data:
        count, data = count * len(data), data[0]
    return count


def _plain_nesting(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_plain_nesting(item) for item in data]
    if isinstance(data, np.ndarray):
        return data.tolist()
    if isinstance(data, TensorBase):
        return _only_element(data)
    return data


def _only_element(tensor: Any) -> Any:
    """Tensors inside sequences stand for one number."""
    if tensor.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return tensor.item()


_COPY_WARNING = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)


@parsed_by(
    "tensor(Any data, *, ScalarType? dtype=None, Device? device=None, bool pin_memory=False, bool requires_grad=False)",
    asks_modes=True,
)
def tensor(data: Any, dtype: Any, device: Any, pin_memory: bool, requires_grad: bool) -> torch.Tensor:
    """Return a new tensor with a copy of `data` (numbers, nested sequences, arrays); torch's errors for ragged data.

    >>> torch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> torch.tensor([1.0], requires_grad=True)
    tensor([1.], requires_grad=True)
    """
    if isinstance(data, TensorBase):
        warnings.warn(_COPY_WARNING.format("torch.tensor"), UserWarning, stacklevel=frames_to_caller())
    made = from_data(data, dtype, device, requires_grad and not pin_memory)
    if pin_memory:
        return aten.empty_like(made, pin_memory=True).copy_(made).requires_grad_(requires_grad)
    return made


@parsed_by(
    "new_tensor(Tensor self, Any data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False)",
    method=True,
)
def new_tensor(self: Any, data: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    """Return a new tensor with a copy of `data`, by default of this tensor's dtype, on its device.

    >>> torch.ones(2, dtype=torch.float64).new_tensor([3])
    tensor([3.], dtype=torch.float64)
    """
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(data, TensorBase):
        warnings.warn(_COPY_WARNING.format("tensor.new_tensor"), UserWarning, stacklevel=frames_to_caller())
    return from_data(data, dtype or self.dtype, device or self.device, requires_grad)


_CPU = Device("cpu")


def _kinds_of_numbers(data: Any) -> set[Any]:
    """Return the types of a number, or of those in a sequence or in one of sequences of one length."""
    if type(data) not in _SEQUENCES:
        return {type(data)}
    kinds = set(map(type, data))
    if kinds <= _SEQUENCES and len(set(map(len, data))) == 1:
        kinds = set()
        for row in data:
            kinds.update(map(type, row))
    return kinds


_SEQUENCES = frozenset((list, tuple))


def _natural_array(data: Any, dtype: Any) -> Any:
    """Return ints, bools or floats as an array of what torch infers for them, ints and floats also as one of the floats
    that `dtype` names; None for all else."""
    kinds = _kinds_of_numbers(data)
    floats = bool(kinds) and kinds <= {int, float}
    natural = get_default_dtype() if float in kinds else dtypes.bool if kinds == {bool} else dtypes.int64
    natural = dtype if floats and dtype in (dtypes.float32, dtypes.float64) else natural
    if not (floats or kinds == {bool}) or dtype not in (None, natural) or natural.name in ("float16", "bfloat16"):
        return None
    token = enter(SILENT)
    try:
        return np.array(data, natural.np)
    except OverflowError:  # to be told in torch's words
        return None
    except MemoryError:
        raise no_memory(_items(data) * natural.itemsize) from None
    finally:
        leave(token)


_SLOW = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single "
    "numpy.ndarray with numpy.array() before converting to a tensor."
)
_interop = LazyModule(
    "mindtorch.functions.interop", "it makes tensors by this module; only arrays of others need it here"
)
_NUMBERS = frozenset((int, bool, float, list, tuple))


def from_data(data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """Return a new tensor with a copy of `data`, its dtype inferred when `dtype` is None."""
    if isinstance(data, TensorBase):
        made = data.detach().clone()  # type: ignore[attr-defined]
        made = made.to(chosen_device(made, device), dtype or made.dtype)
        return made.requires_grad_(requires_grad)
    if type(data) in _NUMBERS:
        if type(data) is list and data and type(data[0]) is np.ndarray:
            warn_once(_SLOW)
        array = _natural_array(data, dtype)
        if array is not None:
            return _finished(array, dtypes.from_numpy(array.dtype), None, device, requires_grad)
    if not isinstance(data, (list, tuple)):
        if isinstance(data, (UntypedStorage, TypedStorage)):
            return of_storage(data, dtype or _element_dtype(data), device).requires_grad_(requires_grad)
        if isinstance(data, bytes):
            raise TypeError("new(): invalid data type 'bytes'")
        if hasattr(type(data), "__dlpack__") and not isinstance(data, (np.ndarray, np.generic)):
            return from_data(_interop.from_dlpack(data), dtype, device, requires_grad)
    if holds_foreign_sequence(data):
        data = plain_sequences(data, dtype is not None)
    chosen = dtype or (
        dtypes.from_numpy(data.dtype) if isinstance(data, (np.ndarray, np.generic)) else infer_dtype(data)
    )
    array = _to_array(data, chosen)
    # Casts to types of one byte are the kernels' business: they saturate, which numpy's do not.
    first = dtypes.float32 if chosen.is_floating_point and chosen.itemsize == 1 else chosen
    # An array that Fortran laid out stays so.
    transposed = array is data and array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
    with no_memory_in_torchs_words():
        target = _copy_of(array, first.np, "F" if transposed else "C")
    stride = tuple(step // target.itemsize for step in target.strides) if transposed else None
    return _finished(target, first, stride, device, requires_grad, chosen)


def _copy_of(array: Any, dtype: Any, order: Any) -> Any:
    if array.dtype == dtype:
        return np.array(array, order=order)
    target = np.empty(array.shape, dtype, order=order)
    token = enter(SILENT)
    try:
        assign(target, array)
    finally:
        leave(token)
    return target


def _element_dtype(data: UntypedStorage | TypedStorage) -> Any:
    """Return the dtype that torch infers for a storage: bytes are whole numbers, as those of a sequence."""
    if isinstance(data, TypedStorage):
        return data.dtype
    return dtypes.int64 if len(data) else get_default_dtype()


def of_storage(data: UntypedStorage | TypedStorage, dtype: Any, device: Any, where: str = "") -> Any:
    """Return a tensor over the bytes of a storage, which are elements of `dtype`; nothing is converted."""
    if isinstance(data, TypedStorage) and data.dtype is not dtype:
        found = f"got {'type ' if where else ''}{data.dtype.scalar_name}{where}"
        raise RuntimeError(f"Expected a Storage of type {dtype.scalar_name} or an UntypedStorage, but {found}")
    made = aten.empty([0], dtype=dtype, device=data.device).set_(data)
    return made if device is None else made.to(device)


def _finished(array: Any, dtype: Any, stride: Any, device: Any, requires_grad: bool, wanted_dtype: Any = None) -> Any:
    """Return a tensor over a new array, cast to `wanted_dtype` and moved to `device` where that is asked for."""
    wanted = get_default_device() if device is None else Device(device)
    made = make_tensor(
        wired.tensor_class, fresh_signature(Spec.of(dtype, _CPU, array.shape, stride)), array, None, 0, [0]
    )
    chosen = wanted_dtype or dtype
    if dtype is not chosen:
        made = aten._to_copy(made, dtype=chosen)
    if wanted.type != "cpu":
        made = aten._to_copy(made, device=wanted)
    if state.mode.dispatch_modes:
        made = aten.lift_fresh.default(made)
    if requires_grad:
        if not (chosen.is_floating_point or chosen.is_complex):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made.requires_grad_(True)
    return made
