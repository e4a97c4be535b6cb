"""`torch.fx.tensor_type`: shapes as types, some of whose lengths may be unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch._naming import adopt

__all__ = ["Dyn", "TensorType", "is_consistent", "is_more_precise"]


class TensorType:
    """The type of tensors of a shape; `Dyn` stands for an unknown length.

    >>> from torch.fx.tensor_type import Dyn, TensorType
    >>> TensorType((1, Dyn)) == TensorType((1, Dyn)), TensorType((1, 2)) == TensorType((1, 3))
    (True, False)
    """

    def __init__(self, dim: Sequence[Any]) -> None:
        self.__origin__ = TensorType
        self.__args__ = dim

    def __repr__(self) -> str:
        return f"TensorType[{self.__args__}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and list(self.__args__) == list(other.__args__)

    def __hash__(self) -> int:
        return hash(tuple(self.__args__))

    @staticmethod
    def __class_getitem__(*args: Any) -> TensorType:
        return TensorType(args[0] if len(args) == 1 and isinstance(args[0], tuple) else args)


class _DynType:
    """The unknown type."""

    def __init__(self) -> None:
        self.__name__ = "_DynType"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DynType)

    def __hash__(self) -> int:
        return hash(_DynType)

    def __str__(self) -> str:
        return "Dyn"

    __repr__ = __str__


Dyn = _DynType()


def is_consistent(t1: object, t2: object) -> bool:
    """Return whether a value could have both types.

    >>> from torch.fx.tensor_type import Dyn, TensorType, is_consistent
    >>> (
    ...     is_consistent(TensorType((1, Dyn)), TensorType((1, 3))),
    ...     is_consistent(TensorType((1, 2)), TensorType((1, 3))),
    ... )
    (True, False)
    """
    if t1 in (t2, Dyn) or t2 == Dyn:
        return True
    return _by_length(t1, t2, is_consistent)


def is_more_precise(t1: object, t2: object) -> bool:
    """Return whether `t1` says all that `t2` says.

    >>> from torch.fx.tensor_type import Dyn, TensorType, is_more_precise
    >>> is_more_precise(TensorType((1, 3)), TensorType((1, Dyn)))
    True
    """
    if t2 in (t1, Dyn):
        return True
    return _by_length(t1, t2, is_more_precise)


def _by_length(t1: Any, t2: Any, compare: Any) -> bool:
    if not isinstance(t1, TensorType) or not isinstance(t2, TensorType):
        return False
    pairs = zip(t1.__args__, t2.__args__, strict=False)
    return len(t1.__args__) == len(t2.__args__) and all(compare(one, other) for one, other in pairs)


adopt(globals())
