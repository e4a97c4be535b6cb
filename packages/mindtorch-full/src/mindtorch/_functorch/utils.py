"""`torch._functorch.utils`: how functions with gradients of their own behave under transforms."""

import contextlib
from collections.abc import Iterator

from mindtorch._naming import adopt

__all__ = ["enable_single_level_autograd_function"]


@contextlib.contextmanager
def enable_single_level_autograd_function() -> Iterator[None]:
    """Context manager in which `autograd.Function` may be used at one level. Here it may be at every level, always."""
    yield


adopt(globals())
