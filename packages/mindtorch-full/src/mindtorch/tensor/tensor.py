"""`Tensor`: the mixins and the methods of the op table, assembled."""

from __future__ import annotations

import inspect
from types import MethodType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mindtorch_dispatch.arguments.messages import type_name
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.call import method as method_of
from mindtorch_dispatch.call import operator as operator_of
from mindtorch_dispatch.deprecations import warn_of
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.override import overrides
from mindtorch_dispatch.override.handlers import disabled_torch_dispatch, dispatches
from mindtorch_dispatch.plan import set_tensor_class
from mindtorch_dispatch.state import state
from mindtorch_dispatch.table import find_packet, packets
from mindtorch_storage.annotations import bind_annotations
from mindtorch_storage.size import Size

from .._overridable import make_methods_overridable, override_geometry, shortcuts
from . import construction, indexing, printing, subclassing
from .absent_ops import absent
from .absent_ops import names as absent_names
from .autograd import AutogradMixin
from .composed import ComposedMixin
from .conversion import ConversionMixin
from .interop import InteropMixin
from .mapping import MappingMixin
from .memory import MemoryMixin
from .pickling import PicklingMixin
from .properties import PropertiesMixin
from .subclassing import without_overrides as without_overrides

OPERATORS = {
    "__add__": "add",
    "__sub__": "sub",
    "__mul__": "mul",
    "__truediv__": "div",
    "__div__": "div",
    "__mod__": "remainder",
    "__matmul__": "matmul",
    "__pow__": "pow",
    "__floordiv__": "floor_divide",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
    "__eq__": "eq",
    "__ne__": "ne",
    "__lt__": "lt",
    "__le__": "le",
    "__gt__": "gt",
    "__ge__": "ge",
    "__radd__": "add",
    "__rmul__": "mul",
    "__rand__": "bitwise_and",
    "__ror__": "bitwise_or",
    "__rxor__": "bitwise_xor",
    "__neg__": "neg",
    "__abs__": "abs",
    "__invert__": "bitwise_not",
    "__iadd__": "add_",
    "__isub__": "sub_",
    "__imul__": "mul_",
    "__itruediv__": "div_",
    "__ifloordiv__": "floor_divide_",
    "__ipow__": "pow_",
    "__imod__": "remainder_",
    "__iand__": "bitwise_and_",
    "__ior__": "bitwise_or_",
    "__ixor__": "bitwise_xor_",
    "__ilshift__": "bitwise_left_shift_",
    "__irshift__": "bitwise_right_shift_",
}
"""Python's operator methods and the ops behind them."""


if TYPE_CHECKING:
    from mindtorch._operators.methods import Methods  # stubs of what is bound below (tools/stubs.py)
else:
    Methods = object


def _refuses(value: Any) -> bool:
    return not isinstance(value, (AutogradMixin, int, float, complex))


class Tensor(
    AutogradMixin,
    PropertiesMixin,
    MemoryMixin,
    ConversionMixin,
    InteropMixin,
    PicklingMixin,
    ComposedMixin,
    MappingMixin,
    Methods,
):
    """A multi-dimensional array with autograd. Make one with `torch.tensor`, `torch.empty` and the like.

    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.shape, x.dtype, x.device
    (torch.Size([2, 2]), torch.float32, device(type='cpu'))
    >>> torch.Tensor([1, 2])
    tensor([1., 2.])
    """

    __module__ = "torch"

    if TYPE_CHECKING:
        grad: Tensor | None  # type: ignore[assignment]  # a property, also of what is derived

        def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __getitem__(self, index: Any) -> Tensor: ...
        @overload
        def size(self, dim: None = None) -> Size: ...
        @overload
        def size(self, dim: int | str) -> int: ...
        def size(self, dim: Any = None) -> Any: ...

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """`torch.Tensor(2, 3)`, `torch.Tensor([1., 2.])`: the legacy constructor, in the default dtype."""
        return construction.legacy_new(cls, args, kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """All is done by `__new__`."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Let a subclass with an override of its own be asked for everything. One that only handles dispatch has none."""
        super().__init_subclass__(**options)
        if dispatches(cls) and overrides.inherits_default(cls):
            cls.__torch_function__ = overrides.disabled_torch_function  # type: ignore[method-assign, assignment]
        override_geometry(cls, Tensor)

    if not TYPE_CHECKING:
        __getitem__ = indexing.getitem
    __setitem__ = indexing.setitem
    __hash__ = object.__hash__

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return printing.tensor_text(self, tensor_contents)

    def __format__(self, format_spec: str) -> str:
        if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
            return self.item().__format__(format_spec)
        return object.__format__(self, format_spec)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self)} - _NOT_HERE)

    def __rsub__(self, other: Any) -> Tensor:
        return NotImplemented if _refuses(other) else aten.rsub(self, other)

    def __rdiv__(self, other: Any) -> Tensor:
        return NotImplemented if _refuses(other) else self.reciprocal() * other  # type: ignore[attr-defined]

    __rtruediv__ = __rdiv__

    def __rpow__(self, other: Any) -> Tensor:
        return NotImplemented if _refuses(other) else aten.pow(other, self)

    def __rfloordiv__(self, other: Any) -> Tensor:
        return NotImplemented if _refuses(other) else aten.floor_divide(other, self)

    def __rmod__(self, other: Any) -> Tensor:
        return NotImplemented if _refuses(other) else aten.remainder(other, self)

    def __rmatmul__(self, other: Any) -> Tensor:
        return NotImplemented if not isinstance(other, AutogradMixin) else aten.matmul(other, self)

    def __rlshift__(self, other: Any) -> Tensor:
        return NotImplemented if _refuses(other) else aten.bitwise_left_shift(other, self)

    def __rrshift__(self, other: Any) -> Tensor:
        return NotImplemented if _refuses(other) else aten.bitwise_right_shift(other, self)

    def __pos__(self) -> Tensor:
        return aten.positive(self)

    @property
    def T(self) -> Tensor:
        """All dimensions in reverse order."""
        return aten.numpy_T(self)

    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged."""
        return aten.mT(self)

    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""
        if self.dim() not in (0, 2):
            raise RuntimeError(
                f"tensor.H is only supported on matrices (2-D tensors). Got {self.dim()}-D tensor."
                + (" For batches of matrices, consider using tensor.mH" if self.dim() > 2 else "")
            )
        if not self.dim():
            warn_of("H of 0-D")
        return self.mH if self.dim() else self.conj()

    @property
    def mH(self) -> Tensor:
        """The conjugate transpose of the last two dimensions."""
        if not self.dim():
            warn_of("mH of 0-D")
            return self.conj()
        if self.dim() == 1:
            raise RuntimeError("tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor.")
        return aten.mT(self).conj()

    @property
    def real(self) -> Tensor:
        """The real part; assigning writes it in place."""
        return aten.real(self)

    @real.setter
    def real(self, value: Any) -> None:
        self.real.copy_(value if isinstance(value, Tensor) else aten.scalar_tensor(value, dtype=self.real.dtype))

    @property
    def imag(self) -> Tensor:
        """The imaginary part; assigning writes it in place."""
        return aten.imag(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        part = self.imag
        part.copy_(value if isinstance(value, Tensor) else aten.scalar_tensor(value, dtype=part.dtype))

    def split(self, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
        """Return pieces of the given length, or of the given lengths, along `dim`.

        >>> torch.arange(5).split(2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        """
        if isinstance(split_size, (list, tuple)):
            return aten.split_with_sizes(self, list(split_size), dim)
        if split_size is None or isinstance(split_size, (float, str, np.generic)):
            raise TypeError(
                "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not "
                f"{type_name(split_size)}"
            )
        return aten.split(self, int(split_size), dim)

    as_subclass = subclassing.as_subclass
    _make_subclass = staticmethod(subclassing.make_subclass)
    _make_wrapper_subclass = staticmethod(subclassing.make_wrapper_subclass)
    __torch_dispatch__: Any = disabled_torch_dispatch

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run `func` with overrides off and return its tensors as `cls`."""
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        with without_overrides():
            result = func(*args, **(kwargs or {}))
        return result if _getter_of(func) in _KEPT else _as_class(result, cls)


def _as_class(result: Any, cls: type) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (list, tuple)) and not isinstance(result, Size):
        return type(result)(_as_class(item, cls) for item in result)
    return result


def _getter_of(func: Any) -> Any:
    owner = getattr(func, "__self__", None)
    return owner if isinstance(owner, property) else None


_NOT_HERE = {"_pipe", "__cuda_array_interface__"}
"""What `dir` leaves out: a slot that most tensors have empty, and what tensors of other devices alone have."""

_KEPT: set[Any] = set()
"""Properties whose tensors keep their class: gradients and bases of views."""


class _Attribute(property):
    """A property with the name of the attribute of torch's native class."""

    __qualname__: str


class _ReadOnly(_Attribute):
    """A property whose assignment fails with torch's text."""

    def __set__(self, instance: Any, value: Any) -> None:
        attribute = self.__qualname__.rpartition(".")[2]
        raise AttributeError(f"attribute '{attribute}' of 'torch._C.TensorBase' objects is not writable")

    def __delete__(self, instance: Any) -> None:
        self.__set__(instance, None)


_WRITABLE = {"_spec", "is_npu", "__cuda_array_interface__"}
"""Properties that are no attributes of torch's native class."""


def _asking(value: property, made: property, name: str) -> MethodType:
    """Return what `torch.Tensor.shape.__get__` is, or the `name` beside it: subclasses are asked, which an attribute of a
    tensor does not do, and modes."""

    def act(made: property, instance: object, *given: Any) -> Any:
        if instance is None:
            return made
        asked = state.mode.function_modes or (overrides.types_override() and overrides.overriding(instance))
        if asked and overrides.enabled():
            args = (instance,) if name == "__get__" else (instance, *given)
            handled, result = overrides.ask(getattr(made, name), [instance], args, {})
            if handled:
                return result
        return getattr(value, name)(instance, *given)

    act.__name__ = name
    return MethodType(act, made)


def is_attribute(value: object) -> bool:
    """Return whether a member of `Tensor` is a property that is an attribute of torch's native class."""
    return isinstance(value, _Attribute)


def _protect_attributes() -> None:
    for owner in Tensor.__mro__[:-1]:
        for name, value in list(vars(owner).items()):
            if type(value) is property and name not in _WRITABLE:
                made = (
                    _ReadOnly(value.fget, doc=value.__doc__)
                    if value.fset is None
                    else _Attribute(value.fget, value.fset, value.fdel, value.__doc__)
                )
                made.__qualname__ = f"TensorBase.{name}"
                for accessor in ("__get__",) if value.fset is None else ("__get__", "__set__", "__delete__"):
                    made.__dict__[accessor] = _asking(value, made, accessor)
                setattr(owner, name, made)


def bind_operators() -> None:
    """Give `Tensor` its operators and every method of the op table."""
    _protect_attributes()
    shortcuts["__getitem__"] = ("select", int, (0,))
    make_methods_overridable(Tensor.__mro__[:-2])
    _KEPT.update(inspect.getattr_static(Tensor, name) for name in ("_base", "grad", "_grad"))
    for dunder, name in OPERATORS.items():
        if find_packet(name) is not None:
            setattr(Tensor, dunder, operator_of(name, dunder))
    for name, packet in list(packets.items()):
        if packet.offers("method") and "::" not in name and name not in Tensor.__dict__:
            setattr(Tensor, name, method_of(name))
        known = packet.offers("method") or name[0] == "_"
        if known and any(row.inplace for row in packet.rows) and f"{name}_" not in packets:
            setattr(Tensor, f"{name}_", method_of(f"{name}_"))
    for name in absent_names("methods"):
        if not hasattr(Tensor, name):
            setattr(Tensor, name, absent(name, "methods"))
    bind_annotations(Tensor, __name__)
    set_tensor_class(Tensor)
    wired.override_owner = Tensor
    overrides.default_plain.add(Tensor)
