"""`torch.autograd.grad_mode`."""

from __future__ import annotations

from mindtorch_autograd.mode import ModeContext as _DecoratorContextManager
from mindtorch_autograd.mode import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from mindtorch_autograd.mode import (
    preserved_version_counter as _unsafe_preserve_version_counter,  # noqa: F401 (a name of torch)
)

from .. import _C
from .._naming import adopt

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class _force_original_view_tracking(_DecoratorContextManager):
    """Whether the history of a view whose base was written replays its chain of views; only False is possible."""

    def __init__(self, mode: bool) -> None:
        self.prev = _C._is_view_replay_enabled()
        self.mode = mode
        _C._set_view_replay_enabled(mode)

    def __enter__(self) -> None:
        _C._set_view_replay_enabled(self.mode)

    def __exit__(self, *exc_info: object) -> None:
        _C._set_view_replay_enabled(self.prev)

    def clone(self) -> _force_original_view_tracking:
        """Return a fresh context of the same setting."""
        return type(self)(self.mode)


adopt(globals())
