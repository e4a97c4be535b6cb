"""Streams and events: classes that can be named and asked about, not made."""

from typing import Any, NoReturn

from mindtorch._absent import dummy_base
from mindtorch._naming import adopt

_CudaStreamBase: Any = dummy_base("_CudaStreamBase")
_CudaEventBase: Any = dummy_base("_CudaEventBase")


class Stream(_CudaStreamBase):
    """A CUDA stream; making one raises.

    >>> torch.cuda.Stream()
    Traceback (most recent call last):
        ...
    RuntimeError: torch.cuda.Stream requires CUDA support
    """

    def __new__(cls, device: Any = None, priority: int = 0, **kwargs: Any) -> NoReturn:
        raise RuntimeError("torch.cuda.Stream requires CUDA support")


class ExternalStream(Stream):
    """A CUDA stream made by another library; making one raises.

    >>> torch.cuda.ExternalStream(0)
    Traceback (most recent call last):
        ...
    TypeError: '<' not supported between instances of 'NoneType' and 'int'
    """

    def __new__(cls, stream_ptr: int, device: Any = None, **kwargs: Any) -> NoReturn:
        # The device is entered first, and None is no index.
        raise TypeError("'<' not supported between instances of 'NoneType' and 'int'")


class Event(_CudaEventBase):
    """A CUDA event; making one raises.

    >>> torch.cuda.Event()
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class Event
    """

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> NoReturn:
        return super().__new__(cls)

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: Any) -> NoReturn:
        """Open an event of another process; raises, there is none."""
        raise AttributeError("'super' object has no attribute 'from_ipc_handle'")


adopt(globals())
