"""`torch.autograd.grad_mode`."""

from mindtorch_autograd.mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from mindtorch_autograd.mode import (
    preserved_version_counter as _unsafe_preserve_version_counter,
)

__all__ = [
    "_unsafe_preserve_version_counter",
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
