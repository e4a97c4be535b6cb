"""`torch.cuda.amp.common`."""

from mindtorch._naming import adopt

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Return whether mixed precision on CUDA is ruled out: True, there is no CUDA.

    >>> from torch.cuda.amp.common import amp_definitely_not_available
    >>> amp_definitely_not_available()
    True
    """
    return True


adopt(globals())
