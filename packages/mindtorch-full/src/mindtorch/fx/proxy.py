"""`torch.fx.proxy`: the values a tracer passes through a program, of which there are none."""

from typing import Any, NoReturn

from mindtorch._naming import adopt

__all__ = ["Proxy", "TraceError"]


class TraceError(ValueError):
    """A program does what cannot be traced."""


class Proxy:
    """A value that is being traced. Nothing is, so nothing is a Proxy, and making one raises."""

    def __init__(self, node: Any, tracer: Any = None) -> NoReturn:
        raise NotImplementedError("torch.fx: there is no symbolic tracing, so there are no proxies")


adopt(globals())
