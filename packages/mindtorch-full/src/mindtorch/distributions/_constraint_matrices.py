"""Sets of matrices."""

from __future__ import annotations

from typing import Any

import mindtorch as torch

from ._constraint_base import Constraint


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        lower = value.tril()
        return (lower == value).view((*value.shape[:-2], -1)).min(-1)[0]


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        lower = value.tril()
        is_lower = (lower == value).view((*value.shape[:-2], -1)).min(-1)[0]
        return is_lower & (value.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0]


class _CorrCholesky(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        # Rows of length one, up to rounding that grows with their number.
        tolerance = torch.finfo(value.dtype).eps * value.size(-1) * 10
        length = torch.linalg.norm(value.detach(), dim=-1)
        unit = (length - 1).abs().le(tolerance).all(dim=-1)
        return _LowerCholesky().check(value) & unit


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return torch.full(
            size=value.shape[:-2],
            fill_value=(value.shape[-2] == value.shape[-1]),
            dtype=torch.bool,
            device=value.device,
        )


class _Symmetric(_Square):
    def check(self, value: Any) -> Any:
        is_square = super().check(value)
        if not is_square.all():
            return is_square
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        is_symmetric = super().check(value)
        if not is_symmetric.all():
            return is_symmetric
        return torch.linalg.eigvalsh(value).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        is_symmetric = super().check(value)
        if not is_symmetric.all():
            return is_symmetric
        return torch.linalg.cholesky_ex(value).info.eq(0)
