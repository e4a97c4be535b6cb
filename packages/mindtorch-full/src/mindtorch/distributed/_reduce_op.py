"""How values of several processes become one."""

from __future__ import annotations

import enum
from typing import Any

from mindtorch_distributed import engine


class RedOpType(enum.IntEnum):
    """The kinds of reduction."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8
    UNUSED = 9

    def __bool__(self) -> bool:
        """True for every kind, also for the sum, whose number is 0."""
        return True

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"


class ReduceOp:
    """A reduction, with the factor of PREMUL_SUM.

    >>> import torch.distributed as dist
    >>> dist.ReduceOp.SUM == dist.ReduceOp.SUM, dist.ReduceOp.SUM == dist.ReduceOp.MAX
    (True, False)
    """

    RedOpType = RedOpType
    SUM = RedOpType.SUM
    AVG = RedOpType.AVG
    PRODUCT = RedOpType.PRODUCT
    MIN = RedOpType.MIN
    MAX = RedOpType.MAX
    BAND = RedOpType.BAND
    BOR = RedOpType.BOR
    BXOR = RedOpType.BXOR
    PREMUL_SUM = RedOpType.PREMUL_SUM

    def __init__(self, op: Any) -> None:
        if not isinstance(op, (ReduceOp, RedOpType)):
            raise TypeError(
                "__init__(): incompatible constructor arguments. The following argument types are supported:\n"
                "    1. torch._C._distributed_c10d.ReduceOp(arg0: c10d::ReduceOp::RedOpType)\n\n"
                f"Invoked with: {op!r}"
            )
        self.op = op.op if isinstance(op, ReduceOp) else op
        self.factor: Any = None

    def __eq__(self, other: object) -> bool:
        return self.op == (other.op if isinstance(other, ReduceOp) else other)

    def __hash__(self) -> int:
        return hash(int(self.op))

    def __copy__(self) -> ReduceOp:
        copy = ReduceOp(self.op)
        copy.factor = self.factor
        return copy

    def __deepcopy__(self, memo: dict[int, Any]) -> ReduceOp:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return (_restored, (int(self.op), self.factor))


def _restored(op: int, factor: Any) -> ReduceOp:
    result = ReduceOp(op)
    result.factor = factor
    return result


RedOpType.__module__ = "torch._C._distributed_c10d"
RedOpType.__qualname__ = "ReduceOp.RedOpType"

REDUCTIONS = {
    RedOpType.SUM: engine.SUM,
    RedOpType.AVG: engine.SUM,
    RedOpType.PRODUCT: engine.PRODUCT,
    RedOpType.MIN: engine.MIN,
    RedOpType.MAX: engine.MAX,
    RedOpType.BAND: engine.BAND,
    RedOpType.BOR: engine.BOR,
    RedOpType.BXOR: engine.BXOR,
}
"""What the engine does; the mean is divided after it."""


def type_of(op: Any) -> RedOpType:
    """The kind of a reduction as users give it."""
    return op.op if isinstance(op, ReduceOp) else RedOpType(op)


def _make_nccl_premul_sum(factor: Any) -> ReduceOp:
    """A sum of values that are multiplied by `factor` first."""
    op = ReduceOp(RedOpType.PREMUL_SUM)
    op.factor = factor
    return op
