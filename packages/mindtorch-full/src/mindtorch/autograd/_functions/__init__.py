"""`torch.autograd._functions`: functions that older programs apply by name."""

from mindtorch._naming import adopt
from mindtorch.autograd._functions.tensor import Resize, Type

__all__ = ["Resize", "Type"]

adopt(globals())
