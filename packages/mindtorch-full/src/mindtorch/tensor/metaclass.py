"""`torch._C._TensorMeta`: the class of tensor classes."""

from typing import Any

from mindtorch_storage.tensor_base import TensorBase


class _Recognising(type):
    """Lets `isinstance(cls, _TensorMeta)` hold for tensor classes, whose class is plain `type`.

    A metaclass of their own would make every `isinstance(x, Tensor)` slower, and there are very many of those.
    """

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is _TensorMeta and isinstance(instance, type):
            return issubclass(instance, TensorBase)
        return super().__instancecheck__(instance)


class _TensorMeta(type, metaclass=_Recognising):
    """Base of metaclasses of tensor classes; every tensor class counts as an instance of it."""

    __module__ = "torch._C"
