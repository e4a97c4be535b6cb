"""Tensors of other classes: over the memory of one, or without memory of their own, and what only those are told."""

from __future__ import annotations

import inspect
from types import MethodType
from typing import Any

from mindtorch_dispatch.call import aten, namespace
from mindtorch_dispatch.defaults import get_default_device, get_default_dtype
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.override import handlers
from mindtorch_dispatch.override.overrides import overriding
from mindtorch_dispatch.sparse import compressed, coo
from mindtorch_dispatch.state import NONE_OVERRIDE, ONLY_MODES_OVERRIDE, mode_set, state
from mindtorch_storage.device import device as Device
from mindtorch_storage.layout import sparse_coo, strided
from mindtorch_storage.size import Size
from mindtorch_storage.sparse import COMPRESSED_LAYOUTS
from mindtorch_storage.spec import Spec
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.tensor_base import TensorBase, make_tensor, share_bytes

from .native import parsed_by

_NOT_A_TENSOR = (
    "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class "
    "inherits from Tensor."
)


def _checked_class(cls: Any) -> None:
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    if not issubclass(cls, TensorBase):
        raise TypeError(_NOT_A_TENSOR)


def as_subclass(self: Any, cls: Any) -> Any:
    """Return this tensor as an instance of `cls`, sharing memory and history; TypeError for a class of no tensors.

    >>> class Mine(torch.Tensor):
    ...     pass
    >>> type(torch.ones(1).as_subclass(Mine)).__name__
    'Mine'
    """
    _checked_class(cls)
    if state.mode.function_modes or overriding(self):
        with mode_set(function_override=NONE_OVERRIDE):  # this method is none that modes and overrides see
            made = aten.alias(self)
    else:
        made = aten.alias(self)
    return become(made, cls)


def become(made: Any, cls: Any) -> Any:
    """Return a tensor that was made just now as an instance of `cls`."""
    kinds = cls.__mro__[: -len(wired.tensor_class.__mro__)]
    if type(made) is not cls and any("__slots__" in vars(kind) for kind in kinds):
        return _copied(made, cls)  # Python gives a class with slots to none that it did not make
    made.__class__ = cls
    return made


def _copied(tensor: Any, cls: Any) -> Any:
    """Return an instance of `cls` with all that a tensor made just now holds."""
    made = share_bytes(cls, tensor._sig, tensor)
    for name in ("_grad_fn", "_output_nr", "_view", "_meta"):
        setattr(made, name, getattr(tensor, name))
    return made


@parsed_by(
    "_make_subclass(Any cls, Tensor data, bool require_grad=False, *, str? dispatch_sizes_strides_policy=None, "
    "bool dispatch_device=False, bool dispatch_layout=False, Device? device_for_backend_keys=None)"
)
def make_subclass(
    cls: Any,
    data: Any,
    require_grad: bool,
    dispatch_sizes_strides_policy: Any,
    dispatch_device: bool,
    dispatch_layout: bool,
    device_for_backend_keys: Any,
) -> Any:
    """Return a leaf of class `cls` over the memory of `data`, whose writes it counts."""
    _checked_class(cls)
    if handlers.dispatches(type(data)):
        data = data.detach()
    sig = data._sig.spec.plain
    made = share_bytes(cls, sig, data)
    _announce(made, dispatch_sizes_strides_policy, dispatch_device, dispatch_layout)
    return _told(made, require_grad)


@parsed_by(
    "_make_wrapper_subclass(Any cls, SymInt[] size, SymInt[]? strides=None, SymInt? storage_offset=None, "
    "MemoryFormat? memory_format=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool pin_memory=False, bool requires_grad=False, str? dispatch_sizes_strides_policy=None, "
    "bool dispatch_device=False, bool dispatch_layout=False, Any _extra_dispatch_keys=None, SymInt? storage_size=None)"
)
def make_wrapper_subclass(
    cls: Any,
    size: Any,
    strides: Any,
    storage_offset: Any,
    memory_format: Any,
    dtype: Any,
    layout: Any,
    device: Any,
    pin_memory: bool,
    requires_grad: bool,
    dispatch_sizes_strides_policy: Any,
    dispatch_device: bool,
    dispatch_layout: bool,
    extra: Any,
    storage_size: Any,
) -> Any:
    """Return a tensor of class `cls` that has a geometry and no memory: its `__torch_dispatch__` does everything."""
    _checked_class(cls)
    if not handlers.dispatches(cls):
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    if strides is not None and len(strides) != len(size):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(strides)})"
        )
    if any(extent < 0 for extent in size):
        raise RuntimeError("numel: integer multiplication overflow")
    chosen = get_default_device() if device is None else Device(device)
    if layout is not None and layout is not strided:
        made = _without_elements(cls, layout, size, dtype or get_default_dtype(), chosen)
        _announce(made, dispatch_sizes_strides_policy, dispatch_device, dispatch_layout)
        return _told(made, requires_grad)
    spec = Spec.of(dtype or get_default_dtype(), chosen, Size(size), tuple(strides) if strides is not None else None)
    offset = storage_offset or 0
    nbytes = storage_size if storage_size is not None else _extent(spec, offset)
    made = make_tensor(cls, spec.plain, None, UntypedStorage(nbytes, device="meta"), offset, [0])
    _announce(made, dispatch_sizes_strides_policy, dispatch_device, dispatch_layout)
    return _told(made, requires_grad)


def _without_elements(cls: Any, layout: Any, size: Any, dtype: Any, device: Any) -> Any:
    """Return a sparse tensor of class `cls` that specifies no element; NotImplementedError for other layouts."""
    if layout is sparse_coo:
        bearer = coo.empty(Size(size), dtype, device)
    elif layout in COMPRESSED_LAYOUTS[:2]:
        bearer = compressed.empty(layout, Size(size), dtype, device)
    else:
        raise NotImplementedError(
            f"_make_wrapper_subclass: layout {layout} is not offered; strided, sparse_coo, sparse_csr and sparse_csc are"
        )
    return share_bytes(cls, bearer._sig.spec.plain, bearer)


def _extent(spec: Spec, offset: int) -> int:
    if not spec.numel:
        return 0
    last = sum((extent - 1) * step for extent, step in zip(spec.shape, spec.stride, strict=True))
    return (offset + last + 1) * spec.itemsize


def _told(made: Any, requires_grad: bool) -> Any:
    spec = made._sig.spec
    if requires_grad:
        if not (spec.dtype.is_floating_point or spec.dtype.is_complex):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made._sig = spec.tracked
    return made


make_subclass.__name__, make_wrapper_subclass.__name__ = "_make_subclass", "_make_wrapper_subclass"

_ASKED = {
    "sizes": {"shape", "size", "dim", "ndim", "numel", "stride", "is_contiguous", "storage_offset"},
    "strides": {"stride", "is_contiguous"},
    "device": {"device"},
    "layout": {"layout"},
}
"""What a class answers itself, by what it asked for."""


def _announce(made: Any, policy: str | None, device: bool, layout: bool) -> None:
    """Let `made` answer for its geometry, device or layout itself, through its class's `__torch_dispatch__`."""
    asked: set[str] = set()
    if policy is not None:
        if policy not in ("sizes", "strides"):
            raise ValueError(f"Unknown sizes_strides_policy: {policy}; expected 'strides' or 'sizes'")
        asked |= _ASKED[policy]
    asked |= _ASKED["device"] if device else set()
    asked |= _ASKED["layout"] if layout else set()
    if not asked:
        return
    made.__dict__["_answers_itself"] = frozenset(asked)
    cls = type(made)
    for name in asked:
        if not isinstance(inspect.getattr_static(cls, name), _AskingProperty | _AskingMethod):
            setattr(cls, name, _asking(cls, name))


def _ask(tensor: Any, name: str) -> Any:
    """Return what the class says; TypeError, in torch's words, when it declines."""
    space, operator = ("prim", name) if name in ("device", "layout") else ("aten", name)
    packet = getattr(namespace(space), operator)
    overload = packet.default
    kind = type(tensor)
    answer = kind.__torch_dispatch__(overload, (kind,), (tensor,), {})
    if answer is NotImplemented:
        raise TypeError(
            f"Multiple dispatch failed for 'torch.ops.{space}.{operator}'; all __torch_dispatch__ handlers returned "
            f"NotImplemented:\n\n  - tensor subclass {kind!r}\n\nFor more information, try re-running with "
            "TORCH_LOGS=not_implemented"
        )
    return answer


_QUESTIONS = {
    "shape": "sym_size",
    "size": "sym_size",
    "stride": "sym_stride",
    "numel": "sym_numel",
    "storage_offset": "sym_storage_offset",
    "ndim": "dim",
}


class _AskingProperty(property):
    """Of instances it asks the class; of the class it is what was there before, as the class overrides nothing."""

    def __init__(self, get: Any, below: Any) -> None:
        super().__init__(get)
        self.below = below

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.below if instance is None else super().__get__(instance, owner)


class _AskingMethod:
    """The same of a method."""

    def __init__(self, call: Any, below: Any) -> None:
        self.call, self.below = call, below

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.below if instance is None else MethodType(self.call, instance)


def _asking(cls: type, name: str) -> Any:
    """Return the attribute `name` for `cls`: of instances that answer themselves the class is asked."""
    below: Any = getattr(cls, name)
    question = _QUESTIONS.get(name, name)

    def answer(self: Any) -> Any:
        made = _ask(self, question)
        if made is None:  # the class leaves it to the geometry that it was made with
            kept = below.__get__(self)
            return kept if isinstance(below, property) else kept()
        return Size(made) if question == "sym_size" else tuple(made) if question == "sym_stride" else made

    if isinstance(below, property):

        def get(self: Any) -> Any:
            return answer(self) if name in self.__dict__.get("_answers_itself", ()) else below.__get__(self)

        return _AskingProperty(get, below)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if name not in self.__dict__.get("_answers_itself", ()):
            return below(self, *args, **kwargs)
        made = answer(self)
        place = args[0] if args else kwargs.get("dim")
        return made[place] if place is not None and name in ("size", "stride") else made

    call.__name__ = name
    return _AskingMethod(call, below)


def without_overrides() -> Any:
    """Context: subclasses do not override calls; modes still do."""
    return mode_set(function_override=ONLY_MODES_OVERRIDE)
