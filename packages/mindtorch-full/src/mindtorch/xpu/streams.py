"""Streams and events: classes that can be named and asked about, not made."""

from typing import Any, NoReturn

from mindtorch._absent import dummy_base
from mindtorch._naming import adopt

_XpuStreamBase: Any = dummy_base("_XpuStreamBase")
_XpuEventBase: Any = dummy_base("_XpuEventBase")


class Stream(_XpuStreamBase):
    """An XPU stream; making one raises.

    >>> torch.xpu.Stream()
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class Stream
    """

    def __new__(cls, device: Any = None, priority: int = 0, **kwargs: Any) -> NoReturn:
        if device is not None:
            raise NotImplementedError("PyTorch was compiled without XPU support")
        return super().__new__(cls)


class Event(_XpuEventBase):
    """An XPU event; making one raises.

    >>> torch.xpu.Event()
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class Event
    """

    def __new__(cls, enable_timing: bool = False) -> NoReturn:
        return super().__new__(cls)


adopt(globals())
