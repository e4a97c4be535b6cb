"""Gradients of scaled losses: taking the scale out of them, and the next scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import float32, int32

from ..call import aten
from ..meta.checks import check
from ..meta.support import require_floating
from ..typing import Tensor


def unscale_(self: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor) -> None:
    """Multiply tensors by `inv_scale`; `found_inf` is 1 afterwards where one of them had an infinite number or none."""
    if not self:
        return
    _check_single("inv_scale", inv_scale)
    _check_single("found_inf", found_inf)
    for grad in self:
        require_floating(grad, "_amp_foreach_non_finite_check_and_unscale_cpu")
        if not bool(aten.all(aten.isfinite(grad))):
            aten.fill_(found_inf, 1.0)
        aten.mul_(grad, inv_scale)


def update_scale_(
    self: Tensor,
    growth_tracker: Tensor,
    found_inf: Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> Any:
    """Make the scale that of the next steps: smaller after one with infinite gradients; `growth_tracker` counts the others."""
    check(growth_tracker.numel() == 1, lambda: "growth_tracker must be a 1-element tensor.")
    check(growth_tracker.dtype is int32, lambda: "growth_tracker must be an int tensor.")
    _check_single("current_scale", self)
    _check_single("found_inf", found_inf)
    if found_inf.item():
        aten.fill_(growth_tracker, 0)
        return aten.mul_(self, scale_backoff_factor)
    steps = growth_tracker.item() + 1
    aten.fill_(growth_tracker, steps if steps != growth_interval else 0)
    if steps == growth_interval:
        grown = aten.mul(self, scale_growth_factor)
        if math.isfinite(grown.item()):
            aten.copy_(self, grown)
    return self


def _check_single(name: str, tensor: Tensor) -> None:
    check(tensor.numel() == 1, lambda: f"{name} must be a 1-element tensor.")
    check(tensor.dtype is float32, lambda: f"{name} must be a float tensor.")
