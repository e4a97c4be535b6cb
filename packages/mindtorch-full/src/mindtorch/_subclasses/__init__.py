"""`torch._subclasses`: tensors without data that remember a device."""

from mindtorch._naming import adopt
from mindtorch._subclasses.fake_tensor import (
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedFakeTensorException,
)
from mindtorch._subclasses.fake_utils import CrossRefFakeMode

__all__ = [
    "CrossRefFakeMode",
    "DynamicOutputShapeException",
    "FakeTensor",
    "FakeTensorMode",
    "UnsupportedFakeTensorException",
]

adopt(globals())
