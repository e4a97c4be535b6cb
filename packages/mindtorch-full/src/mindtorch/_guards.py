"""`torch._guards`: what a tracer knows of the program it traces. Nothing is traced."""

from ._naming import adopt


def active_fake_mode() -> None:
    """Return the mode of fake tensors that traces: None."""
    return None


def detect_fake_mode(inputs: object = None) -> None:
    """Return the mode of fake tensors among the inputs of a trace: None."""
    return None


adopt(globals())
