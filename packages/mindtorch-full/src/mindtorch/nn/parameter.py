"""Tensors a module registers by itself: parameters, buffers and their not yet shaped forms."""

from collections import OrderedDict
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.tensor.metaclass import _TensorMeta
from mindtorch.tensor.tensor import without_overrides
from mindtorch_dispatch.override.overrides import disabled_torch_function
from mindtorch_dispatch.plan import plain_types
from mindtorch_storage.tensor_base import share_bytes

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


def _as_instance(cls: type, data: Tensor, requires_grad: bool) -> Any:
    """Return a leaf of class ``cls`` over the memory of ``data``."""
    spec = data._sig.spec
    if requires_grad and not (spec.dtype.is_floating_point or spec.dtype.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return share_bytes(cls, data._sig.requiring(requires_grad), data)


class _ParameterMeta(_TensorMeta):
    """Counts tensors of other classes that were made parameters (``_is_param``) as instances of Parameter."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


def _marked(data: Any, requires_grad: bool) -> Any:
    """Return a detached tensor of the same class as ``data``, marked as a parameter."""
    result = data.detach().requires_grad_(requires_grad)
    if type(result) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns "
            f"an instance of the same type, but return type {type(result).__name__} was found instead. To use the "
            "type as a Parameter, please correct the detach() semantics defined by its __torch_dispatch__() "
            "implementation."
        )
    result._is_param = True
    return result


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a module registers as its parameter when assigned as an attribute.

    It shares the storage of ``data``; a tensor of another class keeps its class and is marked as a parameter.

    >>> weight = torch.nn.Parameter(torch.ones(2))
    >>> weight.requires_grad, weight
    (True, Parameter containing:
    tensor([1., 1.], requires_grad=True))
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> "Parameter":
        """Return a parameter over ``data`` (an empty tensor if None), a leaf of the graph."""
        if data is None:
            data = mindtorch.empty(0)
        if type(data) is Tensor or type(data) is Parameter:
            return _as_instance(cls, data, requires_grad)
        return _marked(data, requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Parameter":
        """Return a parameter over a clone of the data; attributes set from Python are not copied, as in torch."""
        if id(self) in memo:
            return memo[id(self)]
        data = self.data.clone(memory_format=mindtorch.preserve_format)
        result = type(self)(data, self.requires_grad)
        memo[id(self)] = result
        return result

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__(**options)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        utils = mindtorch._utils
        state = utils._get_obj_state(self)
        hooks: OrderedDict = OrderedDict()
        if not state:
            return utils._rebuild_parameter, (self.data, self.requires_grad, hooks)
        return utils._rebuild_parameter_with_state, (self.data, self.requires_grad, hooks, state)

    # Results of operators are plain tensors: neither a parameter nor a buffer intercepts calls.
    __torch_function__ = disabled_torch_function


class UninitializedTensorMixin:
    """What parameters and buffers of unknown shape share: they raise until :meth:`materialize` gives the shape.

    >>> weight = torch.nn.parameter.UninitializedParameter()
    >>> isinstance(weight, torch.nn.parameter.UninitializedTensorMixin)
    True
    >>> weight.materialize((2, 3))
    >>> weight.shape
    torch.Size([2, 3])
    """

    _allowed_methods = (
        "__hash__",
        "size",
        "copy_",
        "is_complex",
        "is_floating_point",
        "half",
        "float",
        "double",
        "char",
        "short",
        "int",
        "long",
        "cuda",
        "cpu",
        "to",
        "get_device",
        "_has_compatible_shallow_copy_type",
    )

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Turn into a regular parameter or buffer with uninitialized data of ``shape``."""
        if device is None:
            device = self.device
        if dtype is None:
            dtype = self.dtype
        self.data = mindtorch.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Not known yet: always raises RuntimeError."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> None:
        """There is no memory to share yet: always raises RuntimeError."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{self.__class__.__name__}>"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return self.__class__, (self.requires_grad,)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        """Allow the few methods that need no shape; every other use is an error."""
        if func.__name__ in cls._allowed_methods or func.__name__ in ("__get__", "__set__"):
            if not issubclass(cls, Parameter):
                return super().__torch_function__(func, types, args, kwargs or {})
            with without_overrides():
                return func(*args, **(kwargs or {}))
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a "
            f"`LazyModule` or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using "
            "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
        )


def is_lazy(param: Any) -> bool:
    """Return whether ``param`` waits for its shape.

    >>> torch.nn.parameter.is_lazy(torch.nn.LazyLinear(1).weight)
    True
    """
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape the first input decides; see :class:`~torch.nn.modules.lazy.LazyModuleMixin`.

    >>> weight = torch.nn.UninitializedParameter()
    >>> weight.materialize((2, 3))
    >>> weight.shape
    torch.Size([2, 3])
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> "UninitializedParameter":
        """Return a parameter that only knows its device and dtype."""
        data = mindtorch.empty(0, device=device, dtype=dtype)
        return _as_instance(cls, data, requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> "UninitializedParameter":
        if id(self) in memo:
            return memo[id(self)]
        result = type(self)(self.requires_grad, self.device, self.dtype)
        memo[id(self)] = result
        return result


class _BufferMeta(_TensorMeta):
    """Counts tensors marked with ``_is_buffer`` as instances of Buffer: making a buffer keeps the tensor's class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a module registers as its buffer when assigned as an attribute.

    ``persistent=False`` leaves it out of the module's ``state_dict``.

    >>> model = torch.nn.Module()
    >>> model.mean = torch.nn.Buffer(torch.zeros(2))
    >>> list(dict(model.named_buffers()))
    ['mean']
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> "Buffer":
        """Return a tensor over ``data`` (an empty tensor if None), marked as a buffer."""
        if data is None:
            data = mindtorch.empty(0)
        marked: Any = data.detach().requires_grad_(data.requires_grad)
        marked.persistent = persistent
        marked._is_buffer = True
        return marked

    # Results of operators are plain tensors: neither a parameter nor a buffer intercepts calls.
    __torch_function__ = disabled_torch_function


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape the first input decides.

    >>> buffer = torch.nn.UninitializedBuffer()
    >>> buffer.materialize((2, 3))
    >>> buffer.shape
    torch.Size([2, 3])
    """

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> "UninitializedBuffer":
        """Return a buffer that only knows its device and dtype."""
        data = mindtorch.empty(0, device=device, dtype=dtype)
        result = _as_instance(cls, data, requires_grad)
        result.persistent = persistent
        result._is_buffer = True
        return result


# Operators treat parameters as the tensors they are; nothing in a call depends on the class.
plain_types.add(Parameter)

adopt(globals())
