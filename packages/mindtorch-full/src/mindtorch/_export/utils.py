"""`torch._export.utils`: what decompositions ask of operators."""

from __future__ import annotations

from mindtorch._naming import adopt
from mindtorch_dispatch.extend.overloads import OpOverload


def _is_cia_op(op: OpOverload) -> bool:
    """Return whether an overload is composed of others by a kernel that stands for every backend and for gradients."""
    return bool(op._can_decompose())


adopt(globals())
