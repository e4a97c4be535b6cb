"""How compiled code would be fused. Nothing is compiled, so these only remember."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from mindtorch._C._infrastructure import _get_graph_executor_optimize

_strategy: list[tuple[str, int]] = [("STATIC", 2), ("DYNAMIC", 10)]
_onednn = [False]


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Take note of a strategy and return the one before.

    Raises:
        RuntimeError: a kind of specialisation that does not exist.

    >>> torch.jit.set_fusion_strategy([("STATIC", 2)])
    [('STATIC', 2), ('DYNAMIC', 10)]
    """
    for kind, _ in strategy:
        if kind not in ("STATIC", "DYNAMIC"):
            raise RuntimeError(f"FusionBehavior only supported 'STATIC' or 'DYNAMIC', got: {kind}")
    before = list(_strategy)
    _strategy[:] = strategy
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Take note of whether oneDNN's fusion is wanted.

    >>> torch.jit.enable_onednn_fusion(False)
    >>> torch.jit.onednn_fusion_enabled()
    False
    """
    _onednn[0] = bool(enabled)


def onednn_fusion_enabled() -> bool:
    """Return whether oneDNN's fusion is wanted.

    >>> torch.jit.onednn_fusion_enabled()
    False
    """
    return _onednn[0]


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Take note in the block of whether compiled code would be optimized.

    >>> with torch.jit.optimized_execution(False):
    ...     torch._C._get_graph_executor_optimize()
    False
    """
    before = _get_graph_executor_optimize()
    _get_graph_executor_optimize(should_optimize)
    try:
        yield
    finally:
        _get_graph_executor_optimize(before)


class strict_fusion:
    """A block whose compiled code must be fused; in Python it does nothing.

    >>> with torch.jit.strict_fusion():
    ...     print(torch.ones(1) + 1)
    tensor([2.])
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, type: Any, value: Any, tb: Any) -> None:
        pass
