"""Out-of-place forms of ops that exist to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..typing import Tensor


def copy(self: TensorBase, src: TensorBase, non_blocking: bool) -> Any:
    """`src` with the dtype, device and shape of `self`."""
    shape, spec = list(self._sig.spec.shape), self._sig.spec
    made = aten.expand(src, shape) if list(src._sig.spec.shape) != shape else src
    return aten._to_copy(made, dtype=spec.dtype, device=spec.device, non_blocking=non_blocking)


def zero(self: Tensor) -> Any:
    """Zeros like `self`."""
    return aten.zeros_like(self)


def embedding_renorm(self: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Any:
    """A copy of `self` whose rows `indices` have a norm of at most `max_norm`."""
    return aten.embedding_renorm_(aten.clone(self), indices, max_norm, norm_type)


def drawn(form: str) -> Callable[..., Any]:
    """Return the function that draws what the writing op `form` draws into a tensor like `self`, whose gradient is zero."""
    name, _, overload = form.partition(".")

    def draw(self: Tensor, *values: object) -> Any:
        *numbers, generator = values
        return getattr(getattr(aten, name), overload)(aten.clone(self), *numbers, generator=generator)

    return draw
