"""`torch.backends.kleidiai`: Arm's kernels are not part of this library."""

from mindtorch._naming import adopt


def is_available() -> bool:
    """Return whether KleidiAI is built in: False."""
    return False


adopt(globals())
