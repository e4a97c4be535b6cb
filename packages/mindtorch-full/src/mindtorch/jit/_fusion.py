"""How compiled code would be fused. Nothing is compiled, so these only remember."""

from __future__ import annotations

from typing import Any

_strategy: list[tuple[str, int]] = [("STATIC", 2), ("DYNAMIC", 10)]
_onednn = [False]


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Take note of a strategy and return the one before.

    Raises:
        RuntimeError: a kind of specialisation that does not exist.
    """
    for kind, _ in strategy:
        if kind not in ("STATIC", "DYNAMIC"):
            raise RuntimeError(f"FusionBehavior only supported 'STATIC' or 'DYNAMIC', got: {kind}")
    before = list(_strategy)
    _strategy[:] = strategy
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Take note of whether oneDNN's fusion is wanted."""
    _onednn[0] = bool(enabled)


def onednn_fusion_enabled() -> bool:
    """Return whether oneDNN's fusion is wanted.

    >>> torch.jit.onednn_fusion_enabled()
    False
    """
    return _onednn[0]


class strict_fusion:
    """A block whose compiled code must be fused; in Python it does nothing."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, type: Any, value: Any, tb: Any) -> None:
        pass
