"""`inline_asm_elementwise`: instructions of CUDA's processors, written into a kernel. There is no such processor here."""

from typing import Any

import mindtorch
from mindtorch._naming import adopt

__all__ = ["inline_asm_elementwise"]


def inline_asm_elementwise(
    *inputs: Any, asm_str: str, constraints: str, dtype: Any, is_pure: bool = True, pack: int = 1
) -> Any:
    """Apply instructions to every element; RuntimeError for tensors that are not CUDA's, which all tensors are."""
    if not inputs:
        raise ValueError("inline_asm_elementwise requires at least one input tensor")
    mindtorch._check(False, lambda: "inline_asm_elementwise only supports CUDA tensors")


adopt(globals())
