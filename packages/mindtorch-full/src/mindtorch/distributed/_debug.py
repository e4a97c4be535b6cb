"""TORCH_DISTRIBUTED_DEBUG: how much is checked."""

import os

from mindtorch.distributed._options import DebugLevel

_current = [DebugLevel.OFF]


def get_debug_level() -> DebugLevel:
    """How much is checked."""
    return _current[0]


def set_debug_level(arg0: DebugLevel) -> None:
    """Set how much is checked."""
    _current[0] = DebugLevel(arg0)


def set_debug_level_from_env() -> None:
    """Read TORCH_DISTRIBUTED_DEBUG."""
    name = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper() or "OFF"
    if name not in DebugLevel.__members__:
        raise RuntimeError("The value of TORCH_DISTRIBUTED_DEBUG must be one of `OFF`, `INFO`, or `DETAIL`.")
    _current[0] = DebugLevel[name]
