"""What a checkpoint may call when it is loaded with `weights_only=True`, and with which arguments.

Each function here checks the arguments that a file gives before anything is made of them: their types, and the memory
that the call takes. A name without one, a storage class or a dtype, may be mentioned and not called.
"""

from __future__ import annotations

import contextlib
import pickle
from _codecs import encode
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mindtorch
from mindtorch.serialization._budget import Budget, check_key, measure
from mindtorch.serialization._kinds import check, check_ints, check_tensor
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import get_layout, strided
from mindtorch_storage.size import Size
from mindtorch_storage.sparse import COMPRESSED_LAYOUTS
from mindtorch_storage.storage import TypedStorage
from mindtorch_storage.tensor_base import TensorBase

Call = Callable[[Any, tuple[Any, ...]], Any]
Caller = Callable[..., Any]
_ITEM = 128  # bytes of an entry of a dictionary or set, at most
_NUMBER = 32
_TEXT_ENCODINGS = frozenset(("latin1", "latin-1", "iso-8859-1", "utf-8", "utf8", "ascii"))
"""Codecs that neither grow what they encode without limit nor import modules that a file names."""


class RaisedByCaller(Exception):
    """Carries an error of the caller's own code, a class marked safe or a `map_location`, out of a load unchanged."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


@contextlib.contextmanager
def callers_code() -> Iterator[None]:
    """Let what is raised inside reach the caller as it is: it is no damage of the file."""
    try:
        yield
    except (RaisedByCaller, pickle.UnpicklingError):
        raise
    except Exception as error:
        raise RaisedByCaller(error) from error


def _refused(what: str) -> pickle.UnpicklingError:
    return pickle.UnpicklingError(f"Refused {what}: no checkpoint needs it")


def _check_dense(name: str, value: Any) -> None:
    check_tensor(name, value)
    if value._sig.spec.layout is not strided:
        raise pickle.UnpicklingError(f"expected {name} to be a strided tensor")


def _check_hooks(hooks: Any) -> None:
    if hooks is not None and (type(hooks) not in (dict, OrderedDict) or hooks):
        raise _refused("backward hooks in a file")


def _ordered_dict(budget: Budget, call: Call, pairs: Any = ()) -> Any:
    check("the items of an OrderedDict", pairs, list, tuple, dict, OrderedDict)
    budget.take(len(pairs) * _ITEM)
    found = list(pairs.items()) if isinstance(pairs, dict) else pairs
    for pair in found:
        check("an item of an OrderedDict", pair, list, tuple)
        check_keys(pair[:1])
    return OrderedDict(found)


def _counter(budget: Budget, call: Call, counts: Any = ()) -> Any:
    check("the counts of a Counter", counts, dict, list, tuple)
    budget.take(len(counts) * _ITEM)
    check_keys(counts)
    return Counter(counts)


def _set(budget: Budget, call: Call, items: Any = ()) -> Any:
    check("the items of a set", items, list, tuple, set)
    budget.take(len(items) * _ITEM)
    check_keys(items)
    return set(items)


def check_keys(keys: Any) -> None:
    """Refuse keys that must not be hashed."""
    for key in keys:
        if type(key) is tuple:
            check_key(key)


def _size(budget: Budget, call: Call, extents: Any = ()) -> Any:
    check_ints("a size", extents)
    budget.take(len(extents) * _NUMBER)
    return Size(extents)


def _bytearray(budget: Budget, call: Call, content: Any = b"", encoding: Any = None, errors: Any = "strict") -> Any:
    if type(content) is int:
        raise _refused("to make a bytearray of a given size")
    check("the content of a bytearray", content, bytes, bytearray, str)
    budget.take(4 * len(content))
    return bytearray(_encode(budget, call, content, encoding, errors) if type(content) is str else content)


def _encode(budget: Budget, call: Call, text: Any, encoding: Any = "utf-8", errors: Any = "strict") -> Any:
    check("a text to encode", text, str)
    if type(encoding) is not str or encoding.lower() not in _TEXT_ENCODINGS or errors != "strict":
        raise _refused("an encoding other than latin1, utf-8 and ascii")
    budget.take(4 * len(text))
    return encode(text, encoding)


def _complex(budget: Budget, call: Call, *parts: Any) -> Any:
    for part in parts:
        check("a part of a complex number", part, float, int, complex)
    return complex(*parts)


def _device(budget: Budget, call: Call, kind: Any, index: Any = None) -> Any:
    check("the type of a device", kind, str)
    check("the index of a device", index, int, type(None))
    return Device(kind) if index is None else Device(kind, index)


def _layout(budget: Budget, call: Call, name: Any) -> Any:
    check("the name of a layout", name, str)
    return get_layout(name)


def legacy_tensor(budget: Budget, cls: Any, args: tuple[Any, ...]) -> Any:
    """A tensor of class `cls` from numbers that the file holds, or an empty one."""
    if any(type(arg) is int or type(arg) is Size for arg in args):
        raise _refused(f"to make a {cls.__name__} of a given size")
    for arg in args:
        check("the data of a tensor", arg, list, tuple)
        budget.take(measure(arg) * _NUMBER)
        _check_numbers(arg)
    return cls(*args)


def _check_numbers(data: Any) -> None:
    for item in data:
        if type(item) is list or type(item) is tuple:
            _check_numbers(item)
        else:
            check("an element of a tensor", item, float, int, bool)


def _tensor(budget: Budget, call: Call, *args: Any) -> Any:
    return legacy_tensor(budget, mindtorch.Tensor, args)


def _parameter(budget: Budget, call: Call, data: Any = None, requires_grad: Any = True) -> Any:
    if data is not None:
        check_tensor("the data of a parameter", data)
    check("requires_grad", requires_grad, bool)
    return mindtorch.nn.Parameter(data, requires_grad)


def _check_geometry(storage: Any, offset: Any, size: Any, stride: Any) -> None:
    check("the storage of a tensor", storage, TypedStorage)
    check("a storage offset", offset, int)
    check_ints("a size", size)
    check_ints("a stride", stride)


def _rebuild_tensor(budget: Budget, call: Call, *geometry: Any) -> Any:
    _check_geometry(*geometry)
    return mindtorch._utils._rebuild_tensor(*geometry)


def _check_metadata(budget: Budget, metadata: Any, size: Any, itemsize: int, device_type: str) -> None:
    if metadata is None:
        return
    check("the metadata of a tensor", metadata, dict, OrderedDict)
    for name, value in metadata.items():
        check("a name in the metadata of a tensor", name, str)
        check("a value in the metadata of a tensor", value, bool)
    if metadata and device_type != "meta":  # conjugated or negated values are ours alone
        budget.take(_numel(size) * itemsize)


def _numel(size: Any) -> int:
    count = 1
    for extent in size:
        count *= max(extent, 0)
    return count


def _rebuild_tensor_v2(
    budget: Budget,
    call: Call,
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    hooks: Any,
    metadata: Any = None,
) -> Any:
    _check_geometry(storage, offset, size, stride)
    check("requires_grad", requires_grad, bool)
    _check_hooks(hooks)
    _check_metadata(budget, metadata, size, storage.dtype.itemsize, storage.device.type)
    return mindtorch._utils._rebuild_tensor_v2(storage, offset, size, stride, requires_grad, None, metadata)


def _rebuild_tensor_v3(
    budget: Budget,
    call: Call,
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Any:
    _check_geometry(storage, offset, size, stride)
    check("requires_grad", requires_grad, bool)
    check("a dtype", dtype, Dtype)
    _check_hooks(hooks)
    _check_metadata(budget, metadata, size, dtype.itemsize, storage.device.type)
    return mindtorch._utils._rebuild_tensor_v3(storage, offset, size, stride, requires_grad, None, dtype, metadata)


def _rebuild_sparse_tensor(budget: Budget, call: Call, layout: Any, data: Any) -> Any:
    check("the data of a sparse tensor", data, tuple, list)
    if layout in COMPRESSED_LAYOUTS:
        return _rebuild_compressed_tensor(budget, layout, data)
    indices, values, size, *coalesced = data
    for name, part in (("indices", indices), ("values", values)):
        _check_dense(f"the {name} of a sparse tensor", part)
        budget.take(part._sig.spec.nbytes)  # they are looked through one by one
    check_ints("a size", size)
    for flag in coalesced:
        check("is_coalesced", flag, bool, type(None))
    return mindtorch._utils._rebuild_sparse_tensor(layout, (indices, values, Size(size), *coalesced[:1]))


def _rebuild_compressed_tensor(budget: Budget, layout: Any, data: Any) -> Any:
    bounds, plain, values, size = data
    for name, part in (("compressed indices", bounds), ("plain indices", plain), ("values", values)):
        _check_dense(f"the {name} of a sparse tensor", part)
        budget.take(part._sig.spec.nbytes)
    check_ints("a size", size)
    return mindtorch._utils._rebuild_sparse_tensor(layout, (bounds, plain, values, Size(size)))


def _rebuild_meta(budget: Budget, call: Call, dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Any:
    check("a dtype", dtype, Dtype)
    check_ints("a size", size)
    check_ints("a stride", stride)
    check("requires_grad", requires_grad, bool)
    return mindtorch._utils._rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad)


def _rebuild_wrapper(
    budget: Budget,
    call: Call,
    cls: Any,
    dtype: Any,
    size: Any,
    stride: Any,
    offset: Any,
    layout: Any,
    device: Any,
    requires_grad: Any,
) -> Any:
    check("a dtype", dtype, Dtype)
    for name, numbers in (("a size", size), ("a stride", stride), ("an offset", (offset,))):
        check_ints(name, numbers)
    check("a device", device, str, Device)
    check("requires_grad", requires_grad, bool)
    rebuild = mindtorch._utils._rebuild_wrapper_subclass
    return rebuild(cls, dtype, size, stride, offset, layout, device, requires_grad)


def _check_target(budget: Budget, count: int, dtype: Any, device: Any, requires_grad: Any) -> None:
    check("a dtype", dtype, Dtype)
    check("a device", device, str, Device)
    check("requires_grad", requires_grad, bool)
    budget.take(count * dtype.itemsize)


def _rebuild_on_device(budget: Budget, call: Call, data: Any, dtype: Any, device: Any, requires_grad: Any) -> Any:
    _check_dense("the data of a tensor", data)
    _check_target(budget, data._sig.spec.numel, dtype, device, requires_grad)
    return mindtorch._utils._rebuild_device_tensor_from_cpu_tensor(data, dtype, device, requires_grad)


def _rebuild_from_array(budget: Budget, call: Call, data: Any, dtype: Any, device: Any, requires_grad: Any) -> Any:
    check("the data of a tensor", data, np.ndarray)
    _check_target(budget, data.size, dtype, device, requires_grad)
    return mindtorch._utils._rebuild_device_tensor_from_numpy(data, dtype, device, requires_grad)


def _rebuild_parameter(budget: Budget, call: Call, data: Any, requires_grad: Any, hooks: Any) -> Any:
    _check_hooks(hooks)
    return _parameter(budget, call, data, requires_grad)


def _rebuild_parameter_with_state(
    budget: Budget, call: Call, data: Any, requires_grad: Any, hooks: Any, state: Any
) -> Any:
    parameter = _rebuild_parameter(budget, call, data, requires_grad, hooks)
    charge_state(budget, state)
    return mindtorch._utils._set_obj_state(parameter, state)


def charge_state(budget: Budget, state: Any) -> None:
    """Count the attributes that a state gives an object."""
    for part in state if type(state) is tuple else (state,):
        if isinstance(part, dict):
            budget.take(len(part) * _ITEM)


def _rebuild_from_type(budget: Budget, call: Call, function: Any, cls: Any, args: Any, state: Any) -> Any:
    check("the arguments of a rebuild function", args, tuple)
    if not isinstance(cls, type) or not issubclass(cls, TensorBase):
        raise pickle.UnpicklingError("expected a class of tensors in the state of a tensor")
    if function is mindtorch._tensor._rebuild_from_type_v2:
        raise _refused("to give a tensor a class more than once")
    made = call(function, args)
    check_tensor("what a rebuild function made", made)
    charge_state(budget, state)
    if cls is mindtorch.Tensor or cls is mindtorch.nn.Parameter:
        return mindtorch._tensor._rebuild_from_type_v2(lambda: made, cls, (), state)
    with callers_code():
        return mindtorch._tensor._rebuild_from_type_v2(lambda: made, cls, (), state)


def build_tensor(tensor: Any, state: Any) -> None:
    """Give a tensor the state of a file: the forms of before torch 0.4, or what a class marked safe makes of it."""
    if type(tensor).__setstate__ is not mindtorch.Tensor.__setstate__:
        with callers_code():
            tensor.__setstate__(state)
        return
    check("the state of a tensor", state, tuple, list)
    if len(state) == 4:
        _check_geometry(*state)
    else:
        _check_hooks(state[2])
        check("requires_grad", state[3 if len(state) == 5 else 0], bool)
    tensor.__setstate__(tuple(state))


def check_attribute(name: Any) -> None:
    """Refuse names that Python itself gives a meaning: a state cannot change an object's class."""
    if type(name) is not str or (name.startswith("__") and name.endswith("__")):
        raise pickle.UnpicklingError("Refused a state that names no attribute that a program gives")


def set_attributes(target: OrderedDict[Any, Any], state: Any) -> None:
    """Give an ordered dictionary the attributes of a state; none that it has already, which they would hide."""
    check("the state of an OrderedDict", state, dict, OrderedDict)
    for name in state:
        check_attribute(name)
        if hasattr(OrderedDict, name):
            raise pickle.UnpicklingError(f"Refused to replace {name} of an OrderedDict")
    vars(target).update(state)


CALLERS: dict[str, Caller] = {
    "collections.OrderedDict": _ordered_dict,
    "collections.Counter": _counter,
    "builtins.set": _set,
    "builtins.bytearray": _bytearray,
    "builtins.complex": _complex,
    "_codecs.encode": _encode,
    "torch.Size": _size,
    "torch.device": _device,
    "torch.serialization._get_layout": _layout,
    "torch.Tensor": _tensor,
    "torch.nn.parameter.Parameter": _parameter,
    "torch._tensor._rebuild_from_type_v2": _rebuild_from_type,
    "torch._utils._rebuild_tensor": _rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": _rebuild_tensor_v3,
    "torch._utils._rebuild_sparse_tensor": _rebuild_sparse_tensor,
    "torch._utils._rebuild_meta_tensor_no_storage": _rebuild_meta,
    "torch._utils._rebuild_wrapper_subclass": _rebuild_wrapper,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": _rebuild_on_device,
    "torch._utils._rebuild_device_tensor_from_numpy": _rebuild_from_array,
    "torch._utils._rebuild_parameter": _rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": _rebuild_parameter_with_state,
}
"""The allowed names that may be called, each with what checks the arguments and makes the call."""
