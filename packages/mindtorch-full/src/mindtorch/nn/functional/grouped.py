"""Products of groups of rows, each with a matrix of its own: the layers of mixtures of experts."""

from __future__ import annotations

from mindtorch._tensor import Tensor
from mindtorch.ops_table import aten
from mindtorch_storage.dtype import dtype

__all__ = ["grouped_mm"]


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: dtype | None = None,
) -> Tensor:
    """Return each group's product; ``offs`` says where the groups of a 2-d operand end.

    >>> left, right = torch.ones(2, 16, 16, dtype=torch.bfloat16), torch.ones(2, 16, 16, dtype=torch.bfloat16)
    >>> torch.nn.functional.grouped_mm(left, right)[0, 0, 0]
    tensor(16., dtype=torch.bfloat16)
    """
    return aten._grouped_mm(mat_a, mat_b, offs=offs, bias=bias, out_dtype=out_dtype)
