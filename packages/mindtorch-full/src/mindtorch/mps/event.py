"""Events of MPS."""

from mindtorch._naming import adopt
from mindtorch.mps import _refusal


class Event:
    """An MPS event; making one raises."""

    def __init__(self, enable_timing: bool = False) -> None:
        _refusal.refuse("acquireEvent")


adopt(globals())
