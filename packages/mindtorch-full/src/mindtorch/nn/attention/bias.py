"""Causal masks of attention between sequences of different lengths."""

import math
from enum import IntEnum, auto
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Which corner of the score matrix the diagonal starts from.

    >>> [one.name for one in torch.nn.attention.bias.CausalVariant]
    ['UPPER_LEFT', 'LOWER_RIGHT']
    """

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(Tensor):
    """A boolean mask (seq_len_q, seq_len_kv) that remembers its shape and its variant.

    >>> from torch.nn.attention.bias import causal_lower_right
    >>> causal_lower_right(2, 3)._materialize()
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    >>> q = torch.ones(1, 1, 2, 4)
    >>> k = torch.ones(1, 1, 3, 4)
    >>> torch.nn.functional.scaled_dot_product_attention(q, k, k, causal_lower_right(2, 3)).shape
    torch.Size([1, 1, 2, 4])
    """

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> "CausalBias":
        """Return the mask: True where a query may see a key."""
        diagonal = 0 if variant == CausalVariant.UPPER_LEFT else seq_len_kv - seq_len_q
        mask: Any = mindtorch.ones(seq_len_q, seq_len_kv, dtype=mindtorch.bool).tril(diagonal=diagonal)
        mask.__class__ = cls
        return mask

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant)}")
        self.variant = variant
        self.seq_len_q = seq_len_q
        self.seq_len_kv = seq_len_kv

    def _materialize(self, device: Any = None) -> Tensor:
        """Return the mask as a plain boolean tensor."""
        diagonal = 0 if self.variant == CausalVariant.UPPER_LEFT else self.seq_len_kv - self.seq_len_q
        ones = mindtorch.ones(self.seq_len_q, self.seq_len_kv, device=device, dtype=mindtorch.bool)
        return ones.tril(diagonal=diagonal)

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        return self._materialize().__repr__(**options)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        """Compute with the mask as the plain boolean tensor it is."""
        plain = [_plain(arg) for arg in args]
        named = {key: _plain(value) for key, value in (kwargs or {}).items()}
        return func(*plain, **named)


def _calculate_scale(head_dim_size: int, scale: float | None) -> float:
    """Return the factor of the scores: ``scale``, or by the size of a head where it is None."""
    return scale if scale is not None else 1.0 / math.sqrt(head_dim_size)


def _plain(value: Any) -> Any:
    return value._materialize() if isinstance(value, CausalBias) else value


def causal_upper_left(*size: int) -> CausalBias:
    """Return the causal mask whose diagonal starts at the first query and the first key.

    >>> from torch.nn.attention.bias import causal_upper_left
    >>> causal_upper_left(2, 3)._materialize()
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """Return the causal mask whose diagonal ends at the last query and the last key.

    >>> from torch.nn.attention.bias import causal_lower_right
    >>> causal_lower_right(2, 3)._materialize()
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)


adopt(globals())
