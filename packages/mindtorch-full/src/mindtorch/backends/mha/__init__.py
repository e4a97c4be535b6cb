"""`torch.backends.mha`: whether attention layers may take their fast path in evaluation."""

from mindtorch._naming import adopt

_state = {"enabled": True}


def get_fastpath_enabled() -> bool:
    """Return the setting: layers in evaluation, without gradients, compute a whole block in one operator."""
    return _state["enabled"]


def set_fastpath_enabled(value: bool) -> None:
    """Let layers take their fast path, or not."""
    _state["enabled"] = value


adopt(globals())
