"""`torch.backends.openmp`."""

from mindtorch._naming import adopt


def is_available() -> bool:
    """Return False: no kernel runs in parallel through OpenMP."""
    return False


adopt(globals())
