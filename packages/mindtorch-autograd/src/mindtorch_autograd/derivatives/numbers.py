"""What formulas need for values that may be a tensor or a Python number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.tensor_base import TensorBase


def conj(value: Any) -> Any:
    """Return the complex conjugate; real tensors and numbers as they are."""
    if isinstance(value, TensorBase):
        return value.conj_physical() if value._sig.spec.dtype.is_complex else value  # type: ignore[attr-defined]
    return value.conjugate() if isinstance(value, complex) else value


def scaled(grad: Tensor, factor: float) -> Any:
    """Return `grad * conj(factor)`, and `grad` itself for factor 1."""
    return grad if factor == 1 else grad * conj(factor)


def not_implemented(what: str) -> Callable[[Any], Any]:
    """Return a formula that raises torch's error for a derivative torch does not have either."""

    def formula(grad: Tensor) -> Any:
        raise NotImplementedError(f"the derivative for '{what}' is not implemented.")

    return formula
