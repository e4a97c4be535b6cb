"""What derivatives of linear algebra share."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor

from .numbers import conj


def adjoint(matrix: Any) -> Any:
    """Return the conjugate transpose of the last two dimensions."""
    return aten.transpose(conj(matrix), -2, -1)


def product(*matrices: object) -> Any:
    """Return the product of matrices, left to right."""
    result = matrices[0]
    for matrix in matrices[1:]:
        result = aten.matmul(result, matrix)
    return result


def diagonal(matrix: Tensor) -> Any:
    """Return the diagonals of the last two dimensions."""
    return aten.diagonal(matrix, 0, -2, -1)


def halved_diagonal(matrix: Tensor) -> Any:
    """Return `matrix` with its diagonal halved."""
    return matrix - aten.diag_embed(diagonal(matrix)) / 2


def with_diagonal(matrix: Tensor, values: object) -> Any:
    """Return `matrix` with another diagonal."""
    return matrix + aten.diag_embed(values - diagonal(matrix))


def column(values: Any) -> Any:
    """Return vectors as columns."""
    return aten.unsqueeze(values, -1)


def row(values: object) -> Any:
    """Return vectors as rows."""
    return aten.unsqueeze(values, -2)
