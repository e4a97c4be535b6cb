"""`torch.backends.cusparselt`: NVIDIA's sparse kernels are not there."""

from mindtorch._naming import adopt

__all__ = ["get_max_alg_id", "is_available", "version"]


def is_available() -> bool:
    """Return whether cuSPARSELt is there: False.

    >>> torch.backends.cusparselt.is_available()
    False
    """
    return False


def version() -> int | None:
    """Return its version: None.

    >>> print(torch.backends.cusparselt.version())
    None
    """
    return None


def get_max_alg_id() -> int | None:
    """Return the number of its algorithms: None.

    >>> print(torch.backends.cusparselt.get_max_alg_id())
    None
    """
    return None


adopt(globals())
