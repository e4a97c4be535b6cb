"""How tensors are pickled, unpickled and deep-copied, and how a tensor is laid over a storage.

The functions that a pickle names are in
`mindtorch._utils`, where files of torch look for them.
"""

from __future__ import annotations

import copy
import copyreg
import math
import operator
from collections import OrderedDict
from typing import Any

from mindtorch.utils.hooks import warn_if_has_hooks
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.override.handlers import dispatches
from mindtorch_dispatch.plan import plain_types
from mindtorch_dispatch.quantized import tensors
from mindtorch_dispatch.quantized.tensors import checked
from mindtorch_dispatch.state import fresh_signature
from mindtorch_storage import strides
from mindtorch_storage.deferred import settle
from mindtorch_storage.device import intern_device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import sparse_coo, strided
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.quantized import INTEGERS, PACKED, PER_CHANNEL, PER_TENSOR, QuantizedSpec, Quantizer
from mindtorch_storage.size import Size
from mindtorch_storage.sparse import CompressedSpec
from mindtorch_storage.spec import Spec
from mindtorch_storage.storage import TypedStorage, UntypedStorage, storage_class_name
from mindtorch_storage.tensor_base import TensorBase, array_of_storage, has_math_bits, is_bare, make_tensor, math_bits

_utils = LazyModule("mindtorch._utils", "it takes tensors apart itself; files of torch name its functions")
_tensor = LazyModule("mindtorch._tensor", "the same")

_BASE_SLOTS = frozenset(TensorBase.__slots__)
_NO_EMPTY_COPY = (
    "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types that implement "
    "new_empty() and for which that function returns another instance of the same subclass. You should either properly "
    "implement new_empty() for your subclass or override __deepcopy__() if it is intended behavior for new_empty() to "
    "return an instance of a different type."
)
_NOT_LEAF = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you "
    "were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
    "https://github.com/pytorch/pytorch/pull/103001"
)


def _ints(values: Any) -> tuple[int, ...]:
    return tuple(operator.index(value) for value in values)


_MOST_DIMENSIONS = 64
_INT64 = 1 << 63


def _check_geometry(dtype: Dtype, size: Any, stride: Any, offset: int) -> None:
    """Refuse numbers that no tensor has: negative ones, and those whose products 64 bits do not hold."""
    if any(extent < 0 for extent in size):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    if len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    if len(size) > _MOST_DIMENSIONS:
        raise RuntimeError(f"a tensor of {len(size)} dimensions: MindTorch has at most {_MOST_DIMENSIONS}")
    extents = 1
    for extent in size:
        extents *= extent or 1  # an empty tensor's other extents count too: its strides are made from them
    bytes_of_largest = max((extents, offset, strides.memory_span(size, stride, offset), *stride)) * dtype.itemsize
    if bytes_of_largest >= _INT64 or any(step < 0 for step in stride):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")


def tensor_over(
    storage: UntypedStorage, dtype: Dtype, offset: int, size: Any, stride: Any, requires_grad: bool = False
) -> Any:
    """A leaf tensor that shows this part of a storage; RuntimeError when the storage does not hold it."""
    offset, size, stride = operator.index(offset), _ints(size), _ints(stride)
    _check_geometry(dtype, size, stride, offset)
    strides.check_fits(size, stride, offset, dtype.itemsize, storage.nbytes())
    spec = Spec.of(dtype, storage.device, Size(size), stride)
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
    if storage.device.type == "meta":
        array = None
    else:
        # An empty tensor may start past the end of its storage.
        array = array_of_storage(storage, spec, offset if spec.numel else 0)
    return make_tensor(wired.tensor_class, fresh_signature(spec, requires_grad), array, storage, offset, [0])


def state_of(obj: Any) -> Any:
    """Attributes that a program gave a tensor or parameter, in the form of `object.__getstate__`; None for none."""
    custom: Any = type(obj).__getstate__
    if custom is not object.__getstate__:
        return custom(obj)
    attributes = {
        name: value for name, value in (getattr(obj, "__dict__", None) or {}).items() if name != "_answers_itself"
    } or None
    slots = {name: getattr(obj, name) for name in _own_slots(obj) if hasattr(obj, name)}
    return (attributes, slots) if slots else attributes


def _own_slots(obj: Any) -> list[str]:
    return [name for name in copyreg._slotnames(type(obj)) if name not in _BASE_SLOTS]  # type: ignore[attr-defined]


def _is_wrapper(tensor: Any) -> bool:
    """Whether a tensor has no memory and its class does everything."""
    kind = type(tensor)
    if kind in plain_types or not dispatches(kind) or not is_bare(tensor):
        return False
    return tensor._sig.spec.layout is strided and tensor._sig.spec.device.type != "meta"


def _rebuild_arguments(tensor: Any) -> tuple[Any, tuple[Any, ...]]:
    warn_if_has_hooks(tensor)
    spec = tensor._sig.spec
    size, requires_grad = tuple(spec.shape), tensor._sig.requires_grad
    if _is_wrapper(tensor):
        offset = tensor._offset
        geometry = spec.dtype, size, spec.stride, offset, spec.layout, spec.device
        return _utils._rebuild_wrapper_subclass, (type(tensor), *geometry, requires_grad)
    if type(spec) is CompressedSpec:
        given = tensor._array
        of_rows = given.compressed.detach(), given.plain.detach(), given.values.detach(), Size(size)
        return _utils._rebuild_sparse_tensor, (spec.layout, of_rows)
    if spec.layout is sparse_coo:
        parts = tensor._indices().detach(), tensor._values().detach(), Size(size), tensor.is_coalesced()
        return _utils._rebuild_sparse_tensor, (sparse_coo, parts)
    if type(spec) is QuantizedSpec:
        return _utils._rebuild_qtensor, _quantized_arguments(tensor)
    if spec.device.type == "meta":
        return _utils._rebuild_meta_tensor_no_storage, (spec.dtype, size, spec.stride, requires_grad)
    storage = tensor._materialized_storage()
    hooks: OrderedDict[Any, Any] = OrderedDict()
    arguments = (tensor._offset, size, spec.stride, requires_grad, hooks)
    bits = math_bits(tensor)
    metadata = {name: True for name in ("conj", "neg") if getattr(bits, name)}
    more = (metadata,) if metadata else ()
    try:
        storage_class_name(spec.dtype)
    except KeyError:
        return _utils._rebuild_tensor_v3, (storage, *arguments, spec.dtype, *more)
    return _utils._rebuild_tensor_v2, (TypedStorage._over(storage, spec.dtype), *arguments, *more)


def _quantized_arguments(tensor: Any) -> tuple[Any, ...]:
    spec, scheme = tensor._sig.spec, tensor.qscheme()
    if scheme is PER_TENSOR:
        parameters: tuple[Any, ...] = scheme, tensor.q_scale(), tensor.q_zero_point()
    else:
        scales, zero_points = tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()
        parameters = PER_CHANNEL, scales, zero_points, tensor.q_per_channel_axis()
    storage = TypedStorage._over(tensor._materialized_storage(), spec.dtype)
    hooks: OrderedDict[Any, Any] = OrderedDict()
    return storage, tensor._offset, tuple(spec.shape), spec.stride, parameters, tensor._sig.requires_grad, hooks


def quantized_over(storage: UntypedStorage, dtype: Dtype, offset: int, size: Any, stride: Any, parameters: Any) -> Any:
    """A quantized tensor that shows this part of a storage; RuntimeError when the storage does not hold it."""
    scheme, *given = parameters
    quantizer = Quantizer(*given)
    if (scheme is PER_TENSOR) is not (quantizer.scheme is PER_TENSOR):
        raise RuntimeError(f"Can't deserialize quantized tensor with qscheme {scheme}")
    size = _ints(size)
    if dtype in PACKED:
        count = -(-math.prod(size) // PACKED[dtype])
        return tensors.over(tensor_over(storage, INTEGERS[dtype], offset, (count,), (1,)), dtype, quantizer, size)
    if dtype not in INTEGERS:
        raise RuntimeError(f"Can't deserialize quantized tensor with dtype {dtype}")
    whole = tensor_over(storage, INTEGERS[dtype], offset, size, stride)
    return tensors.over(whole, dtype, checked(quantizer, whole.shape))


def _may_be_set(cls: type, name: Any, value: Any) -> bool:
    """Whether a state in a file may set this attribute: those that a program gave a tensor, none that make the tensor.

    Native code and the engine follow the tensor's own slots; they are set by what checks them, and by nothing else.
    """
    if type(name) is not str or (name.startswith("__") and name.endswith("__")):
        return False
    owner = next((base for base in cls.__mro__ if name in vars(base)), None)
    if owner is None or owner not in wired.tensor_class.__mro__:
        return True
    # A program's attribute may have the name of a method, and then hides it. What can be called may not.
    return not (name.startswith("_") or hasattr(vars(owner)[name], "__set__") or callable(value))


def set_state(obj: Any, state: Any) -> None:
    """Give a tensor the attributes that `state_of` found; RuntimeError for any that are parts of the tensor itself."""
    parts = state if type(state) is tuple else (state,)
    if (type(state) is tuple and len(state) != 2) or not all(part is None or isinstance(part, dict) for part in parts):
        raise RuntimeError(f"Invalid serialized state of type {type(state).__name__}")
    for part in parts:
        for name, value in (part or {}).items():
            if not _may_be_set(type(obj), name, value):
                shown = name if type(name) is str else type(name).__name__
                raise RuntimeError(
                    f"Refused to set {shown[:100]!r} of a {type(obj).__name__}: a state holds the attributes that a "
                    "program gave, and this one is part of the tensor"
                )
            setattr(obj, name, value)


def _check_replaceable(tensor: Any) -> None:
    """Refuse to lay a tensor over other memory when a graph, a view or a gradient relies on the present one."""
    bare = tensor._grad_fn is None and tensor._view is None and tensor._meta is None
    if not bare or tensor._sig.requires_grad or tensor._sig.spec.layout is not strided:
        raise RuntimeError("only a tensor without history and gradient can be restored from a storage")


def restore_from_legacy_state(tensor: Any, state: tuple[Any, ...]) -> None:
    """Lay a tensor over `(storage, offset, size, stride)`."""
    settle()
    storage, offset, size, stride = state
    if not isinstance(storage, TypedStorage | UntypedStorage):
        raise RuntimeError(f"expected a storage in the state of a tensor, but got {type(storage).__name__}")
    _check_replaceable(tensor)
    dtype = storage.dtype if isinstance(storage, TypedStorage) else tensor._sig.spec.dtype
    source = tensor_over(storage.untyped(), dtype, offset, size, stride)
    tensor._sig, tensor._array, tensor._storage, tensor._offset = (
        source._sig,
        source._array,
        source._storage,
        source._offset,
    )


def meta_tensor(dtype: Dtype, size: Any, stride: Any, requires_grad: bool) -> Any:
    """A tensor on `meta` with these strides."""
    size, stride = _ints(size), _ints(stride)
    _check_geometry(dtype, size, stride, 0)
    spec = Spec.of(dtype, intern_device("meta"), Size(size), stride)
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    nbytes = strides.memory_span(spec.shape, spec.stride) * dtype.itemsize
    storage = UntypedStorage(nbytes, device="meta")
    return make_tensor(wired.tensor_class, fresh_signature(spec, requires_grad), None, storage, 0, [0])


class PicklingMixin(TensorBase):
    """Pickling and copying of tensors."""

    __slots__ = ()

    def __reduce_ex__(self: Any, protocol: Any) -> tuple[Any, ...]:
        """The storage, the geometry, and what a program added to the tensor."""
        state = state_of(self)
        function, arguments = _rebuild_arguments(self)
        if type(self) is wired.tensor_class and not state:
            return function, arguments
        return _tensor._rebuild_from_type_v2, (function, type(self), arguments, state)

    def __setstate__(self: Any, state: tuple[Any, ...]) -> None:
        """The forms of state that releases before 0.4 pickled."""
        if not self.is_leaf:
            raise RuntimeError("__setstate__ can be only called on leaf Tensors")
        if len(state) == 4:
            restore_from_legacy_state(self, state)
            return
        if len(state) == 5:
            self.data = state[0]
            state = (state[3], state[4], state[2])
        requires_grad, _, _ = state  # between them and hooks, which cannot be saved, nothing is kept
        self.requires_grad = requires_grad

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        """A leaf over a copy of the storage; tensors that shared one share its copy."""
        if not self.is_leaf:
            raise RuntimeError(_NOT_LEAF)
        if id(self) in memo:
            return memo[id(self)]
        sig = fresh_signature(self._sig.spec, self._sig.requires_grad)
        without_array = sig.spec.layout is not strided or type(sig.spec) is QuantizedSpec or has_math_bits(self)
        if without_array or (type(self) not in plain_types and dispatches(type(self))):
            return _cloned(self, memo)
        if type(self) not in plain_types and type(self.new_empty([])) is not type(self):
            raise RuntimeError(_NO_EMPTY_COPY)
        if sig.spec.device.type == "meta":
            storage, array = UntypedStorage(sig.spec.nbytes, device="meta"), None
        else:
            storage = copy.deepcopy(self._materialized_storage(), memo)
            array = None
            if storage.device.type != "meta":
                array = array_of_storage(storage, sig.spec, self._offset if sig.spec.numel else 0)
        new = make_tensor(type(self), sig, array, storage, self._offset, [0])
        return _with_attributes(new, self, memo)


def _cloned(tensor: Any, memo: dict[int, Any]) -> Any:
    """Return a copy of a tensor that only its class can copy; RuntimeError when the class copies to another one."""
    new = tensor.clone()
    if type(new) is not type(tensor):
        raise RuntimeError(
            "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that "
            "implement clone() and for which cloning returns another instance of the same subclass. You should either "
            "properly implement clone() for your subclass or override __deepcopy__() if it is intended behavior for "
            "clone() to return an instance of a different type."
        )
    new = new.detach().requires_grad_(tensor.requires_grad)
    return _with_attributes(new, tensor, memo)


def _with_attributes(new: Any, tensor: Any, memo: dict[int, Any]) -> Any:
    """Return a tensor's copy, with copies of its gradient and of the attributes that the copy does not have yet."""
    memo[id(tensor)] = new
    if tensor.grad is not None:
        new.grad = copy.deepcopy(tensor.grad, memo)
    for name in _own_slots(tensor):
        if hasattr(tensor, name):
            setattr(new, name, copy.deepcopy(getattr(tensor, name), memo))
    if getattr(tensor, "__dict__", None):
        new.__dict__.update(copy.deepcopy({k: v for k, v in tensor.__dict__.items() if k not in new.__dict__}, memo))
    return new
