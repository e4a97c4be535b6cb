"""Tensors over memory of others: arrays, buffers, files, DLPack capsules."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindtorch
from mindtorch.tensor.capsules import made_plain
from mindtorch.tensor.construction import from_data
from mindtorch.tensor.device_capsules import taken_back
from mindtorch.tensor.interop import NUMPY_TYPES
from mindtorch.tensor.native import parsed_by
from mindtorch.tensor.pickling import tensor_over
from mindtorch_dispatch.defaults import chosen_device
from mindtorch_dispatch.interface.native import native_path
from mindtorch_dispatch.state import fresh_signature
from mindtorch_dispatch.warn_once import warn_once
from mindtorch_storage import dtype as types
from mindtorch_storage.device import device as Device
from mindtorch_storage.device import intern_device
from mindtorch_storage.spec import Spec
from mindtorch_storage.storage import TypedStorage, UntypedStorage
from mindtorch_storage.storage.memory import writable_view
from mindtorch_storage.strides import memory_span
from mindtorch_storage.tensor_base import TensorBase, make_tensor

from .._naming import adopt

__all__ = ["as_tensor", "asarray", "from_dlpack", "from_file", "from_numpy", "frombuffer"]

_CPU = intern_device("cpu")
_MOST_SPECS = 1024
_specs: dict[tuple[int, ...], Spec] = {}
"""Those of arrays that tensors were made over, for the native call path."""
_NOT_WRITABLE = (
    "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing to "
    "this tensor will result in undefined behavior. You may want to copy the array to protect its data or make it "
    "writable before converting it to a tensor. This type of warning will be suppressed for the rest of this program."
)
_BUFFER_NOT_WRITABLE = (
    "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can write to "
    "the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the buffer to protect its "
    "data or make it writable before converting it to a tensor. This type of warning will be suppressed for the rest "
    "of this program."
)
_KEEPS_GRAD = (
    "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
    "requires_grad=False explicitly to get the old behavior and silence this warning."
)


def _check_array(array: np.ndarray[Any, Any]) -> None:
    if array.flags.c_contiguous and array.dtype.isnative:
        return
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )
    itemsize = array.dtype.itemsize
    if any(step % itemsize for step in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
            "memory."
        )
    if any(step < 0 for step in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )


def tensor_of_array(array: np.ndarray[Any, Any], dtype: Any, stride: tuple[int, ...] | None = None) -> Any:
    """A tensor over an array's memory; the array may have any layout that tensors have.

    `stride` is needed for empty arrays, for which numpy may have another one than the tensor.
    """
    plain = array.view(np.ndarray)
    if not plain.flags.writeable:
        plain = writable_view(plain)
    itemsize = dtype.itemsize
    stride = tuple([step // itemsize for step in plain.strides]) if stride is None else stride
    spec = Spec.of(dtype, _CPU, plain.shape, stride)
    numbers = plain if dtype in NUMPY_TYPES else plain.view(f"u{itemsize}")  # not every other type can be strided anew
    if plain.flags.c_contiguous:
        flat = numbers.reshape(-1)
    else:  # the storage is what lies between the first and the last element, gaps included
        span = memory_span(spec.shape, stride)
        flat = np.lib.stride_tricks.as_strided(numbers, (span,), (itemsize,), writeable=plain.flags.writeable)
    storage = UntypedStorage._from_buffer(flat.view(np.uint8), resizable=False)
    return make_tensor(mindtorch.Tensor, fresh_signature(spec), plain, storage, 0, [0])


def from_numpy(ndarray: Any, /) -> mindtorch.Tensor:
    """A tensor over the memory of an array; writes through either are seen by both.

    >>> import numpy
    >>> array = numpy.array([1, 2])
    >>> x = torch.from_numpy(array)
    >>> array[0] = 7
    >>> x
    tensor([7, 2])
    """
    if native_path.tensor_over is not None:
        found = native_path.tensor_over(ndarray, _specs)
        if found is not None:
            return found
    if not isinstance(ndarray, np.ndarray):
        kind = type(ndarray)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        raise TypeError(f"expected np.ndarray (got {name})")
    _check_array(ndarray)
    dtype = types.from_numpy(ndarray.dtype)
    if dtype not in NUMPY_TYPES:
        # The text names the array's type; ask for one that has no dtype.
        kind = ndarray.dtype.type
        raise TypeError(
            f"can't convert np.ndarray of type {kind.__module__}.{kind.__name__}. The only supported types are: "
            "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, "
            "uint8, and bool."
        )
    if not ndarray.flags.writeable:
        warn_once(_NOT_WRITABLE)
    made = tensor_of_array(ndarray, dtype)
    if len(_specs) >= _MOST_SPECS:
        _specs.clear()
    _specs[(ndarray.dtype.num, *ndarray.shape)] = made._sig.spec
    return made


@parsed_by("frombuffer(Any buffer, *, ScalarType dtype, int count=-1, int offset=0, bool requires_grad=False)")
def frombuffer(buffer: Any, dtype: Any, count: int, offset: int, requires_grad: bool) -> mindtorch.Tensor:
    """A 1-d tensor over the memory of an object with the buffer protocol.

    >>> torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16)
    tensor([1, 2], dtype=torch.int16)
    """
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if not view.c_contiguous:
        raise RuntimeError("could not retrieve buffer from object")
    length, itemsize = view.nbytes, dtype.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0:
        if (length - offset) % itemsize:
            raise ValueError(
                f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element "
                f"size ({itemsize})"
            )
        count = (length - offset) // itemsize
    elif offset + count * itemsize > length:
        raise ValueError(
            f"requested buffer length ({count} * {itemsize} bytes) after offset ({offset} bytes) must not be greater "
            f"than actual buffer length ({length} bytes)"
        )
    if view.readonly:
        warn_once(_BUFFER_NOT_WRITABLE)
    bytes_of = np.frombuffer(view.cast("B"), np.uint8, count * itemsize, offset)
    bytes_of = writable_view(bytes_of) if view.readonly else bytes_of
    storage = UntypedStorage._from_buffer(bytes_of, resizable=False)
    if requires_grad:
        _check_differentiable(dtype)
    return tensor_over(storage, dtype, 0, (count,), (1,), requires_grad)


def _check_differentiable(dtype: Any) -> None:
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")


@parsed_by(
    "from_file(str filename, bool? shared=None, int? size=0, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=False, bool? requires_grad=False)"
)
def from_file(
    filename: str,
    shared: bool | None,
    size: int | None,
    dtype: Any,
    layout: Any,
    device: Any,
    pin_memory: bool,
    requires_grad: bool,
) -> Any:
    """A 1-d tensor over the first `size` elements of a file.

    >>> import os, tempfile
    >>> handle, path = tempfile.mkstemp()
    >>> _ = os.write(handle, bytes([1, 2, 3]))
    >>> torch.from_file(path, size=3, dtype=torch.uint8)
    tensor([1, 2, 3], dtype=torch.uint8)
    """
    if pin_memory:
        raise RuntimeError("tensors constructed from a file cannot be pinned")
    if layout is not None and layout is not mindtorch.strided:
        raise NotImplementedError(
            f"Could not run 'aten::from_file' with the layout {layout}: files hold strided tensors."
        )
    dtype = mindtorch.get_default_dtype() if dtype is None else dtype
    count = size or 0
    storage = UntypedStorage.from_file(filename, bool(shared), count * dtype.itemsize)
    tensor = tensor_over(storage, dtype, 0, (count,), (1,))
    tensor = tensor if device is None else tensor.to(device)
    if not requires_grad:
        return tensor
    _check_differentiable(dtype)
    return tensor.requires_grad_()


def _taken(source: Any) -> Any:
    """A tensor over the memory that `source.__dlpack__` offers."""
    try:
        capsule = source.__dlpack__(max_version=(1, 0))
    except TypeError:  # it speaks the standard of before 1.0
        capsule = source.__dlpack__()
    found = taken_back(capsule)
    if found is not None:
        return found
    dtype = made_plain(capsule)
    array = np.from_dlpack(_Capsule(capsule))
    if dtype is None:
        return tensor_of_array(array, types.from_numpy(array.dtype))
    return tensor_of_array(array.view(dtype.np), dtype)


class _Capsule:
    """Gives a bare capsule the method that numpy asks for."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> mindtorch.Tensor:
    """A tensor over the memory of another library's array, or of a DLPack capsule."""
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError("device and copy kwargs not supported when ext_tensor is already a DLPack capsule.")
        if type(ext_tensor).__name__ != "PyCapsule" or "used_" in repr(ext_tensor):
            raise RuntimeError(
                "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so "
                "you might have already constructed a tensor from it once."
            )
        ext_tensor = _Capsule(ext_tensor)
    _check_dlpack_devices(ext_tensor, device, copy)
    if isinstance(ext_tensor, TensorBase) and ext_tensor.device.type == "npu":
        tensor = taken_back(ext_tensor.__dlpack__())  # type: ignore[attr-defined]
    elif isinstance(ext_tensor, TensorBase):
        array = ext_tensor._host_array()
        spec = ext_tensor._sig.spec
        tensor = tensor_of_array(array, spec.dtype, spec.stride) if array is not None else None
        if tensor is None or ext_tensor._sig.requires_grad:
            ext_tensor.__dlpack__()  # type: ignore[attr-defined]  # raises what forbids the export
    elif isinstance(ext_tensor, np.ndarray):
        plain = ext_tensor.dtype.kind in "biufc" and ext_tensor.dtype.char not in "gG" and ext_tensor.dtype.isnative
        if not ext_tensor.flags.writeable or not plain:
            options: dict[str, Any] = {} if ext_tensor.flags.writeable else {"max_version": (1, 0)}
            ext_tensor.__dlpack__(**options)
        tensor = tensor_of_array(ext_tensor, types.from_numpy(ext_tensor.dtype))
    else:
        tensor = _taken(ext_tensor)
    if device is not None and Device(device).type != tensor.device.type:
        return tensor.to(device)
    return tensor.clone() if copy else tensor


def _check_dlpack_devices(ext_tensor: Any, device: Any, copy: bool | None) -> None:
    """Refuse memory that is on an absent device, and a target that DLPack does not know or that takes a copy."""
    kind, index = ext_tensor.__dlpack_device__()
    if kind in _ABSENT_DLPACK:
        raise AssertionError(f"Torch not compiled with {_ABSENT_DLPACK[kind]} enabled")
    if device is None:
        return
    target = Device(device)
    if target.type == "meta":
        raise BufferError("Cannot pack tensors on meta")
    if target.type != "cpu" and copy is False:
        raise ValueError(
            f"cannot move DLPack tensor from device {(kind, index)} to {target} without copying. Set copy=None or "
            "copy=True."
        )


_ABSENT_DLPACK = {2: "CUDA", 14: "XPU"}
"""Device codes of builds that MindTorch does not stand for."""


@parsed_by("as_tensor(Any data, ScalarType? dtype=None, Device? device=None)", asks_modes=True)
def as_tensor(data: Any, dtype: Any, device: Any) -> mindtorch.Tensor:
    """`data` as a tensor: itself or a view of its memory when type and device allow, else a copy.

    >>> x = torch.ones(2)
    >>> torch.as_tensor(x) is x
    True
    >>> torch.as_tensor([1, 2])
    tensor([1, 2])
    """
    if isinstance(data, TensorBase):
        tensor: Any = data
    elif isinstance(data, np.ndarray):
        tensor = from_numpy(data)
    else:
        return from_data(data, dtype, device)
    return _converted(tensor, dtype, device)


def _converted(tensor: Any, dtype: Any, device: Any) -> Any:
    target = chosen_device(tensor, device)
    return tensor.to(device=target, dtype=tensor.dtype if dtype is None else dtype)


def _aliased(obj: Any, dtype: Any, copy: bool | None) -> Any:
    """A tensor over the object's own memory, or None when it has none to share."""
    if isinstance(obj, TensorBase):
        return obj
    if isinstance(obj, UntypedStorage | TypedStorage):
        # Without a type it counts as a sequence of Python ints, or of what the typed storage holds.
        dtype = dtype or getattr(obj, "dtype", types.int64)
        storage = obj.untyped()
        return tensor_over(storage, dtype, 0, (storage.nbytes() // dtype.itemsize,), (1,))
    if isinstance(obj, np.ndarray):
        return from_numpy(obj)
    if isinstance(obj, np.generic):
        if copy is False:
            raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
        return from_numpy(np.asarray(obj))
    if hasattr(obj, "__dlpack__") or type(obj).__name__ == "PyCapsule":
        return from_dlpack(obj)
    if isinstance(obj, bytes | bytearray | memoryview) or (hasattr(obj, "__buffer__") and not isinstance(obj, str)):
        return frombuffer(obj, dtype=mindtorch.get_default_dtype() if dtype is None else dtype)
    return None


@parsed_by(
    "asarray(Any obj, *, ScalarType? dtype=None, Device? device=None, bool? copy=None, bool? requires_grad=None)",
    asks_modes=True,
)
def asarray(obj: Any, dtype: Any, device: Any, copy: bool | None, requires_grad: bool | None) -> mindtorch.Tensor:
    """`obj` as a tensor, sharing its memory where possible (`copy=False`: or else ValueError; `copy=True`: never).

    >>> torch.asarray([1, 2], dtype=torch.float32)
    tensor([1., 2.])
    """
    tensor = _aliased(obj, dtype, copy)
    if tensor is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        tensor = from_data(obj, dtype, device)
        return _with_requires_grad(tensor, bool(requires_grad))
    target = chosen_device(tensor, device)
    wanted = tensor.dtype if dtype is None else dtype
    if copy is False:
        if target.type != tensor.device.type:
            raise ValueError(f"can't alias tensor from device '{tensor.device}' to '{target}'.")
        if wanted is not tensor.dtype:
            raise ValueError(
                f"can't alias tensor with dtype '{tensor.dtype.scalar_name}' into dtype '{wanted.scalar_name}'."
            )
    result = _converted(tensor, wanted, target)
    if copy and result is tensor:
        result = tensor.clone()
    if requires_grad is None and isinstance(obj, TensorBase) and obj.requires_grad:  # type: ignore[attr-defined]
        warn_once(_KEEPS_GRAD)
    return result if requires_grad is None else _with_requires_grad(result, requires_grad)


def _with_requires_grad(tensor: Any, requires_grad: bool) -> Any:
    if not requires_grad:
        return tensor.detach()
    if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return tensor if tensor.requires_grad else tensor.detach().requires_grad_()


adopt(globals(), "torch")
