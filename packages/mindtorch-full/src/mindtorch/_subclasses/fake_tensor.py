"""`torch._subclasses.fake_tensor`: tensors without data for a tracer. There is no tracer; use the device "meta"."""

from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.tensor.tensor import Tensor

_INSTEAD = "there are no fake tensors; tensors on the device 'meta' have shape, dtype and strides without data"


class FakeTensor(Tensor):
    """A tensor without data that remembers a device. Nothing is one, and making one raises."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(_INSTEAD)


class FakeTensorMode:
    """The mode in which tensors are fake; making one raises."""

    def __init__(self, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(_INSTEAD)


class UnsupportedFakeTensorException(RuntimeError):
    """A fake tensor met what it cannot do."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class DynamicOutputShapeException(RuntimeError):
    """An operator's shape depends on data, which a fake tensor lacks."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.func = func


adopt(globals())
