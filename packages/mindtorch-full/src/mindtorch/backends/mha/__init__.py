"""`torch.backends.mha`: whether attention layers may take their fast path in evaluation."""

from mindtorch._naming import adopt

_state = {"enabled": True}


def get_fastpath_enabled() -> bool:
    """Return the setting. There is no such path here, so it changes nothing but this answer."""
    return _state["enabled"]


def set_fastpath_enabled(value: bool) -> None:
    """Keep the setting."""
    _state["enabled"] = value


adopt(globals())
