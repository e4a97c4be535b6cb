"""Functions that checkpoints and pickles name: what makes tensors and parameters again from their parts.

They keep the module name they are importable by, so that plain pickles work in every process; `torch.save` writes
them as members of `torch._utils`.
"""

from __future__ import annotations

import sys
import traceback
from typing import Any

import numpy as np

import mindtorch
from mindtorch.tensor.pickling import meta_tensor, quantized_over, set_state, state_of, tensor_over
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import sparse_coo
from mindtorch_storage.lazy_import import load
from mindtorch_storage.sparse import COMPRESSED_LAYOUTS
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.strides import contiguous_strides
from mindtorch_storage.tensor_base import MATH_BITS, conceal

__named_by_proxy__ = True


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Any:
    """A tensor over a typed storage."""
    return tensor_over(storage._untyped_storage, storage.dtype, storage_offset, size, stride)


def _with_metadata(tensor: Any, metadata: Any) -> Any:
    """Apply the bits that are saved beside the data. Devices have none: there the result has memory of its own."""
    if not metadata:
        return tensor
    unknown = set(metadata) - {"conj", "neg"}
    if unknown:
        raise RuntimeError(f"tensor metadata {sorted(unknown)} is not known")
    spec = tensor._sig.spec
    if spec.device.type == "cpu":
        return conceal(tensor, MATH_BITS[bool(metadata.get("conj")), bool(metadata.get("neg"))])
    storage = UntypedStorage(spec.nbytes, device=spec.device)
    result = tensor_over(storage, spec.dtype, 0, spec.shape, contiguous_strides(spec.shape), tensor._sig.requires_grad)
    actions = mindtorch.serialization._serialization_tls.after_data
    if actions is None:
        _fill_with(result, tensor, metadata)
    else:
        # The older format brings the data after the objects.
        actions.append(lambda: _fill_with(result, tensor, metadata))
    return result


def get_tensor_metadata(tensor: Any) -> dict[str, bool]:
    """Return which of the bits that delay a conjugation or a negation are set: `{"conj": True}`."""
    if not isinstance(tensor, mindtorch.Tensor):
        raise AssertionError(f"expected torch.Tensor, got {type(tensor).__name__}")
    return {name: True for name, is_set in (("conj", tensor.is_conj()), ("neg", tensor.is_neg())) if is_set}


def set_tensor_metadata(tensor: Any, metadata: dict[str, bool]) -> None:
    """Set the bits that `get_tensor_metadata` named."""
    if not isinstance(metadata, dict):
        raise AssertionError(f"expected dict, got {type(metadata).__name__}")
    if not isinstance(tensor, mindtorch.Tensor):
        raise AssertionError(f"expected torch.Tensor, got {type(tensor).__name__}")
    mindtorch._C._set_conj(tensor, metadata.get("conj", False))
    mindtorch._C._set_neg(tensor, metadata.get("neg", False))


def _fill_with(result: Any, source: Any, metadata: dict[str, bool]) -> None:
    target, values = result._host_array(), source._host_array()
    if target is None:
        return
    target[...] = values
    if metadata.get("conj"):
        parts = target["imag"] if target.dtype.names else target.imag
        np.negative(parts, out=parts)
    if metadata.get("neg"):
        np.negative(target, out=target)


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    """A tensor over a typed storage, as files of torch 0.4 and later describe it."""
    tensor = tensor_over(storage._untyped_storage, storage.dtype, storage_offset, size, stride, requires_grad)
    return _with_metadata(_with_hooks(tensor, backward_hooks), metadata)


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    dtype: Dtype,
    metadata: Any = None,
) -> Any:
    """A tensor over an untyped storage, for the types without a storage class of their own."""
    tensor = tensor_over(storage.untyped(), dtype, storage_offset, size, stride, requires_grad)
    return _with_metadata(_with_hooks(tensor, backward_hooks), metadata)


def _with_hooks(tensor: Any, backward_hooks: Any) -> Any:
    # Current files hold an empty dict here.
    if backward_hooks:
        tensor._backward_hooks = backward_hooks
    return tensor


def _rebuild_sparse_tensor(layout: Any, data: Any) -> Any:
    """A sparse tensor of its parts; RuntimeError for indices that do not fit the size."""
    if layout not in (sparse_coo, *COMPRESSED_LAYOUTS):
        raise NotImplementedError(f"rebuilding sparse tensor for layout {layout}")

    def made(check: bool) -> Any:
        if layout is not sparse_coo:
            return mindtorch.sparse_compressed_tensor(*data, layout=layout, check_invariants=check)
        indices, values, size, *rest = data
        flag = rest[0] if rest else None
        return mindtorch.sparse_coo_tensor(indices, values, size, is_coalesced=flag, check_invariants=check)

    actions = mindtorch.serialization._serialization_tls.after_data
    if actions is None:
        return made(check=True)
    tensor = made(check=False)

    def fill() -> None:
        tensor._array = made(check=True)._array

    actions.append(fill)  # the indices and values are still to be read
    return tensor


def _rebuild_qtensor(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    quantizer_params: Any,
    requires_grad: bool,
    backward_hooks: Any,
) -> Any:
    """A quantized tensor over a storage; RuntimeError where storage, geometry and quantizer do not fit."""
    tensor = quantized_over(storage.untyped(), storage.dtype, storage_offset, size, stride, quantizer_params)
    tensor.requires_grad_(requires_grad)
    return _with_hooks(tensor, backward_hooks)


def _rebuild_meta_tensor_no_storage(dtype: Dtype, size: Any, stride: Any, requires_grad: bool) -> Any:
    """A tensor without data."""
    return meta_tensor(dtype, size, stride, requires_grad)


def _rebuild_wrapper_subclass(
    cls: Any,
    dtype: Dtype,
    size: Any,
    stride: Any,
    storage_offset: int,
    layout: Any,
    device: Any,
    requires_grad: bool,
) -> Any:
    """A tensor without memory, of a class that does everything itself."""
    return mindtorch.Tensor._make_wrapper_subclass(
        cls,
        size,
        strides=stride,
        dtype=dtype,
        storage_offset=storage_offset,
        layout=layout,
        device=_get_restore_location(device),
        requires_grad=requires_grad,
    )


def _rebuild_device_tensor_from_cpu_tensor(data: Any, dtype: Dtype, device: str, requires_grad: bool) -> Any:
    """A tensor on a device whose storages are not saved."""
    return data.to(dtype=dtype, device=_get_restore_location(device)).requires_grad_(requires_grad)


def _rebuild_device_tensor_from_numpy(data: Any, dtype: Dtype, device: str, requires_grad: bool) -> Any:
    """A tensor on a device, from files that hold its data as an array."""
    tensor = mindtorch.from_numpy(data).to(dtype=dtype, device=_get_restore_location(device))
    return tensor.requires_grad_(requires_grad)


def _get_restore_location(device: str) -> Any:
    """Where `map_location` of the running `torch.load` puts what was on `device`."""
    map_location = mindtorch.serialization._serialization_tls.map_location
    if map_location is None:
        return device
    if isinstance(map_location, dict):
        return map_location.get(device, device)
    if isinstance(map_location, str | mindtorch.device):
        return map_location
    raise RuntimeError(
        f"Callable map_location not supported with _rebuild_wrapper_subclass or _rebuild_device_tensor_from_numpy"
        f" but got {map_location!r}"
    )


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    """A parameter over a tensor."""
    return _with_hooks(mindtorch.nn.Parameter(data, requires_grad), backward_hooks)


def _rebuild_parameter_with_state(data: Any, requires_grad: bool, backward_hooks: Any, state: Any) -> Any:
    """A parameter over a tensor, with the attributes a program gave it."""
    return _set_obj_state(_rebuild_parameter(data, requires_grad, backward_hooks), state)


def _get_obj_state(obj: Any) -> Any:
    """Attributes that a program gave a tensor or parameter."""
    return state_of(obj)


def _set_obj_state(obj: Any, state: Any) -> Any:
    """Give an object the attributes that `_get_obj_state` found."""
    set_state(obj, state)
    return obj


def _import_dotted_name(name: str) -> Any:
    """The object with this dotted name."""
    found: Any = load(name.partition(".")[0])
    path = name.partition(".")[0]
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        if not hasattr(found, part):
            load(path)
        found = getattr(found, part)
    return found


def _element_size(dtype: Dtype) -> int:
    """The bytes of one element."""
    if not isinstance(dtype, Dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


def _flatten_dense_tensors(tensors: Any) -> Any:
    """One flat tensor with the elements of all."""
    return mindtorch.cat([tensor.contiguous().view(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Any) -> tuple[Any, ...]:
    """Views of a flat tensor in the shapes of `tensors`."""
    start, views = 0, []
    for tensor in tensors:
        count = tensor.numel()
        views.append(flat.narrow(0, start, count).view_as(tensor))
        start += count
    return tuple(views)


def _get_available_device_type() -> str | None:
    """Return the type of the accelerator that is there, None without one."""
    device = mindtorch.accelerator.current_accelerator(check_available=True)
    return None if device is None else device.type


def _get_device_module(device_type: str) -> Any:
    """Return the module of a type of device, `torch.cpu` of "cpu"; RuntimeError where there is none."""
    module = getattr(mindtorch, device_type, None)
    if module is None:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'."
        )
    return module


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """Return the index that a device names: of "cpu" -1 where that is allowed, without one the current where it is optional.

    Raises:
        ValueError: another device.
    """
    given = Device(device) if isinstance(device, str) else device
    index = None
    if isinstance(given, Device):
        if not allow_cpu and given.type == "cpu":
            raise ValueError(f"Expected a non cpu device, but got: {given}")
        index = -1 if given.type == "cpu" else given.index
    elif isinstance(given, int):
        index = given
    if index is None:
        if not optional:
            raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{given}")
        kind = _get_available_device_type()
        return _get_device_module(kind).current_device() if kind is not None else None
    return index


def _is_privateuse1_backend_available() -> bool:
    """Whether the device of another distribution is registered and there."""
    module = getattr(mindtorch, load("mindtorch.utils.backend_registration")._get_privateuse1_backend_name(), None)
    is_available = getattr(module, "is_available", None)
    return bool(is_available is not None and is_available())


class KeyErrorMessage(str):
    """A message whose line breaks survive the quoting that KeyError does."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception of a worker, in a form that crosses to the main process and is raised there."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        exc_info = sys.exc_info() if exc_info is None else exc_info
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self) -> None:
        """Raise the exception, with the worker's traceback in its message."""
        message: str = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            exception = self.exc_type(message)
        except TypeError:
            # The constructor wants more than a message.
            raise RuntimeError(message) from None
        raise exception
