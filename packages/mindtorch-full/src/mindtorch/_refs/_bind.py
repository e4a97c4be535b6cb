"""Where the operations of `torch._refs` and `torch._prims` are: each is ours under another name, decompositions included."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import mindtorch as torch
from mindtorch.nn import functional


def _method(name: str) -> Callable[..., Any]:
    attribute = getattr(torch.Tensor, name)
    if isinstance(attribute, property) or not callable(attribute):
        return lambda a: getattr(a, name)
    return attribute  # type: ignore[no-any-return]


def find(name: str, *homes: Any) -> Callable[..., Any]:
    """Return the operation ``name`` of the first of some modules that has it, else the tensor's method or the op."""
    for home in homes:
        found = getattr(home, name, None)
        if callable(found):
            return found  # type: ignore[no-any-return]
    return _method(name) if hasattr(torch.Tensor, name) else getattr(torch.ops.aten, name)


def bind(namespace: dict[str, Any], names: Iterable[str], *homes: Any) -> list[str]:
    """Put operations into a module's namespace and return their names."""
    bound = list(names)
    for name in bound:
        if name not in namespace:
            namespace[name] = find(name, *homes)
    return bound


__all__ = ["bind", "find", "functional"]
