"""`torch._subclasses`: the types of fake tensors, of which there are none."""

from mindtorch._naming import adopt
from mindtorch._subclasses.fake_tensor import (
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedFakeTensorException,
)

__all__ = ["DynamicOutputShapeException", "FakeTensor", "FakeTensorMode", "UnsupportedFakeTensorException"]

adopt(globals())
