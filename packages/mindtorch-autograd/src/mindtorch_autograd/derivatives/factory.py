"""Factories shaped like a tensor: nothing flows through them."""

from ..derivative import NON_DIFFERENTIABLE, derivative

derivative(
    "empty_like zeros_like ones_like full_like new_empty new_zeros new_ones new_full new_empty_strided",
    NON_DIFFERENTIABLE,
)
