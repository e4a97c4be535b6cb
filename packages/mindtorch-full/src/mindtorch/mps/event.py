"""Events of MPS."""

from mindtorch._naming import adopt
from mindtorch.mps import _refusal


class Event:
    """An MPS event; making one raises.

    >>> torch.mps.Event()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute acquireEvent() without MPS backend.
    """

    def __init__(self, enable_timing: bool = False) -> None:
        _refusal.refuse("acquireEvent")


adopt(globals())
