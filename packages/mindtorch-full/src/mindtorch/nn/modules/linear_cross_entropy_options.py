"""How :func:`nn.functional.linear_cross_entropy` may divide its work."""

import dataclasses
import re
from typing import Any

import mindtorch
from mindtorch._naming import adopt

__all__ = ["LinearCrossEntropyOptions"]

_POLICIES = ("accurate", "balanced", "compact", "auto")
_METHOD = re.compile(r"auto|aspect_ratio:\d+")


@dataclasses.dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """A strategy to keep less than all logits in memory.

    The values are checked and kept; the loss is the same with and without them. The logits are computed as a whole.

    >>> isinstance(torch.nn.LinearCrossEntropyOptions, type)
    True
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        size, method = self.batch_chunk_size, self.chunking_method
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if method is not None and not _METHOD.fullmatch(method):
            raise ValueError(f"invalid chunking_method: {method!r}")
        if self.acc_policy not in _POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        allowed = (None, mindtorch.float16, mindtorch.bfloat16, mindtorch.float32, mindtorch.float64)
        if self.acc_dtype not in allowed:
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, got "
                f"{self.acc_dtype}. Pass acc_dtype=None to let the op pick automatically."
            )


adopt(globals())
