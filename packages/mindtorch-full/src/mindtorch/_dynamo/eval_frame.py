"""`torch._dynamo.eval_frame`: the type of compiled modules, and whether modules can be compiled."""

from mindtorch._naming import adopt
from mindtorch.compiler._compiled import OptimizedModule

__all__ = ["OptimizedModule", "is_dynamo_supported"]


def is_dynamo_supported() -> bool:
    """Return whether `torch.compile` works here: True.

    >>> from torch._dynamo.eval_frame import is_dynamo_supported
    >>> is_dynamo_supported()
    True
    """
    return True


adopt(globals())
