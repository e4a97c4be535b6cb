"""Grad mode and autocast in graphs that are recorded above autograd: nodes that set them, as the program did."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch.amp import autocast_mode
from mindtorch_dispatch.state import state


class Regions:
    """Records where grad mode and autocast change, as they are found when the next operator is recorded."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        self.grad = torch.is_grad_enabled()
        self.casts: list[Any] = [state.mode.autocast]
        self.entered: list[Any] = []

    def note(self) -> None:
        """Record what has changed since the last call."""
        if torch.is_grad_enabled() is not self.grad:
            self.grad = not self.grad
            self._record(torch._C._set_grad_enabled, (self.grad,))
        casts = state.mode.autocast
        while casts != self.casts[-1] and casts in self.casts:
            self.casts.pop()
            self._record(autocast_mode._exit_autocast, (self.entered.pop(),))
        if casts != self.casts[-1]:
            self.casts.append(casts)
            self.entered.append(self._record(autocast_mode._enter_autocast, _arguments(casts)))

    def _record(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        made = self.tracer.create_proxy("call_function", function, arguments, {})
        made.node.meta["val"] = None
        return made


def _arguments(casts: Any) -> tuple[Any, ...]:
    """Return what `_enter_autocast` is called with to make autocast what it is."""
    if casts is None or len(casts.enabled) != 1:
        raise NotImplementedError(
            "make_fx: autocast on several types of devices, or off within a region, is not recorded"
        )
    ((device, dtype),) = casts.enabled
    return device, dtype, True, casts.cache
