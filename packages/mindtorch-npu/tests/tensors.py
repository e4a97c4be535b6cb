"""Tensors for tests on a simulated device: numbers of a seed, and whether two tensors are near each other."""

from __future__ import annotations

import mindtorch


def draw(*shape: int, seed: int = 0) -> mindtorch.Tensor:
    """Return numbers of the normal distribution, the same ones for a seed."""
    return mindtorch.randn(shape, generator=mindtorch.Generator().manual_seed(seed))


def near(found: mindtorch.Tensor, expected: mindtorch.Tensor, atol: float = 1e-5) -> bool:
    """Return whether two tensors of any devices have the same values, but for rounding."""
    return mindtorch.allclose(found.detach().cpu(), expected.detach().cpu(), atol=atol)
