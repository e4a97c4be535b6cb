"""`torch.backends.cusparselt`: NVIDIA's sparse kernels are not there."""

from mindtorch._naming import adopt

__all__ = ["get_max_alg_id", "is_available", "version"]


def is_available() -> bool:
    """Return whether cuSPARSELt is there: False."""
    return False


def version() -> int | None:
    """Return its version: None."""
    return None


def get_max_alg_id() -> int | None:
    """Return the number of its algorithms: None."""
    return None


adopt(globals())
