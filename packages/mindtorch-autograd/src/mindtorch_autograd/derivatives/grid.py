"""Matrices made of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import derivative


def block_diag(grad: Tensor, tensors_spec: Sequence[Spec]) -> list[Any]:
    """Each block's part of the gradient."""
    row = column = 0
    parts = []
    for spec in tensors_spec:
        height, width = (1, spec.numel) if spec.ndim < 2 else spec.shape
        part = aten.narrow(aten.narrow(grad, 0, row, height), 1, column, width)
        parts.append(aten.reshape(part, list(spec.shape)))
        row, column = row + height, column + width
    return parts


derivative("block_diag", tensors=block_diag)
