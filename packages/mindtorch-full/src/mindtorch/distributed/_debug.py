"""TORCH_DISTRIBUTED_DEBUG: how much is checked."""

import os

from mindtorch.distributed._options import DebugLevel

_current = [DebugLevel.OFF]


def get_debug_level() -> DebugLevel:
    """How much is checked.

    >>> import torch.distributed as dist
    >>> dist.get_debug_level().name
    'OFF'
    """
    return _current[0]


def set_debug_level(arg0: DebugLevel) -> None:
    """Set how much is checked."""
    if not isinstance(arg0, DebugLevel):
        raise TypeError(
            "set_debug_level(): incompatible function arguments. The following argument types are supported:\n"
            f"    1. (arg0: torch._C._distributed_c10d.DebugLevel) -> None\n\nInvoked with: {arg0!r}"
        )
    _current[0] = arg0


def set_debug_level_from_env() -> None:
    """Read TORCH_DISTRIBUTED_DEBUG."""
    name = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper() or "OFF"
    if name not in DebugLevel.__members__:
        raise RuntimeError("The value of TORCH_DISTRIBUTED_DEBUG must be one of `OFF`, `INFO`, or `DETAIL`.")
    _current[0] = DebugLevel[name]
