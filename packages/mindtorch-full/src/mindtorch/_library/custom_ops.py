"""`torch._library.custom_ops`: operators that programs define as functions."""

from mindtorch._naming import adopt
from mindtorch.library._custom import CustomOpDef, custom_op

__all__ = ["CustomOpDef", "custom_op"]

adopt(globals())
