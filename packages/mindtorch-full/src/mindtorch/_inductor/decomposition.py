"""`torch._inductor.decomposition`: operators that a compiler replaces by others. They are kept; nothing replaces them."""

from collections.abc import Callable
from typing import Any

from mindtorch._decomp import register_decomposition as _register
from mindtorch._naming import adopt

__all__ = ["decompositions", "register_decomposition"]

decompositions: dict[Any, Callable[..., Any]] = {}
"""What is registered, by operator."""


def register_decomposition(ops: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that registers a function for operators, in place of what is registered.

    >>> from torch._inductor.decomposition import decompositions, register_decomposition
    >>> @register_decomposition(torch.ops.aten.relu.default)
    ... def relu(x):
    ...     return x.clamp(min=0)
    >>> decompositions[torch.ops.aten.relu.default] is relu
    True
    """
    for op in ops if isinstance(ops, (list, tuple)) else [ops]:
        decompositions.pop(op, None)
    return _register(ops, decompositions)


adopt(globals())
