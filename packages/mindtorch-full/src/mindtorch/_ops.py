"""`torch._ops`: the classes of `torch.ops`' objects."""

from mindtorch_dispatch.extend.overloads import OpNamespace as _OpNamespace  # noqa: F401 (its name in torch)
from mindtorch_dispatch.extend.overloads import OpOverload, OpOverloadPacket

from . import ops
from ._C._dispatch import DispatchKey as DispatchKey
from ._higher_order_ops.operator import HigherOrderOperator
from ._naming import adopt

__all__ = ["HigherOrderOperator", "OpOverload", "OpOverloadPacket", "ops"]

adopt(globals())
