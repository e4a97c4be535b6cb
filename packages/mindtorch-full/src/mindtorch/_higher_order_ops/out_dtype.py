"""`torch._higher_order_ops.out_dtype`: an operator whose result has another dtype than its arguments."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._ops import OpOverload
from mindtorch.utils._pytree import arg_tree_leaves, tree_map_only

__all__ = ["OutDtypeOperator", "out_dtype"]

_NAMES = (
    "linear.default mm.default conv2d.default convolution.default mul.Tensor mul.Scalar div.Tensor div.Scalar".split()
)


class OutDtypeOperator:
    """Calls an operator whose arguments are promoted together with the dtype of the result.

    >>> from torch._higher_order_ops.out_dtype import out_dtype
    >>> a = torch.full((2, 2), 100, dtype=torch.int8)
    >>> out_dtype(torch.ops.aten.mul.Tensor, torch.int32, a, a)
    tensor([[10000, 10000],
            [10000, 10000]], dtype=torch.int32)
    """

    def __init__(self) -> None:
        self.__name__ = "out_dtype"

    def name(self) -> str:
        """Return the operator's name."""
        return self.__name__

    def __call__(self, op: OpOverload, output_dtype: torch.dtype, *args: Any) -> torch.Tensor:
        """Return what `op` gives, in `output_dtype`.

        Raises:
            ValueError: `op` is no overload, writes to an argument, or is not one of the operators that this knows.
        """
        if not isinstance(op, OpOverload):
            raise ValueError("out_dtype's first argument must be an OpOverload")
        if op._schema.is_mutable:
            raise ValueError("out_dtype's first argument needs to be a functional operator")
        known = [_overload(name) for name in _NAMES]
        if op not in known:
            raise ValueError(f"out_dtype only allows the following operators: {known}.")
        if (
            op is _overload("mm.default")
            and output_dtype is torch.int32
            and all(one.dtype is torch.int8 for one in args)
        ):
            return torch._int_mm(*args)
        common = torch.ones(1, dtype=output_dtype).dtype
        for one in arg_tree_leaves(*args):
            common = torch.result_type(torch.empty(1, dtype=common), one)
        return op(*tree_map_only(torch.Tensor, lambda one: one.to(common), args)).to(output_dtype)


def _overload(name: str) -> OpOverload:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload)


out_dtype = OutDtypeOperator()

adopt(globals())
