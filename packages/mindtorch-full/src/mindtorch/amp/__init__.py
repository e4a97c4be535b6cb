"""Mixed precision: autocast and gradient scaling."""

from mindtorch._naming import adopt

from .autocast_mode import _enter_autocast, _exit_autocast, autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "_enter_autocast",
    "_exit_autocast",
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
]

adopt(globals())
