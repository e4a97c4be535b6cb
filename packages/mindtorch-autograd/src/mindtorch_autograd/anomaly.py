"""Anomaly detection: where the op was called whose backward failed, and a check of every gradient for nan."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten

from .node import Node, hooks_of

_settings = {"enabled": False, "check_nan": True}
TRACEBACK = "traceback_"
_OURS = ("mindtorch_dispatch", "mindtorch_autograd")
PARENT = "parent_"


def settings() -> tuple[bool, bool]:
    """Return (enabled, check_nan)."""
    return _settings["enabled"], _settings["check_nan"]


def enabled() -> bool:
    """Return whether detection is on."""
    return _settings["enabled"]


def set_settings(enabled: bool, check_nan: bool) -> None:
    """Switch detection, process-wide as in torch."""
    _settings["enabled"], _settings["check_nan"] = enabled, check_nan


def note_call(node: Node, parent: Node | None) -> None:
    """Remember on a new node where it was recorded, and during which node's backward."""
    metadata = hooks_of(node).metadata
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        frame = frame.f_back
    metadata[TRACEBACK] = traceback.format_list(traceback.extract_stack(frame))
    if parent is not None:
        metadata[PARENT] = parent


def run(node: Node, grads: list[Any]) -> Sequence[Any]:
    """Run a node; when it fails or gives nan, warn with the traceback of the forward call."""
    try:
        answers = node.apply(grads)
        _check(node, answers)
    except Exception:
        _warn(node)
        raise
    return answers


def _check(node: Node, gradients: Sequence[Any]) -> None:
    if not _settings["check_nan"]:
        return
    for index, grad in enumerate(gradients):
        if grad is not None and bool(aten._is_any_true(aten.isnan(grad)).item()):
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {index}th output.")


def _warn(node: Node) -> None:
    metadata = hooks_of(node).metadata
    lines = metadata.get(TRACEBACK)
    if lines is None:
        warnings.warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during "
            "forward pass for more information.",
            stacklevel=2,
        )
        return
    warnings.warn(
        f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(lines)}",
        stacklevel=2,
    )
    parent = metadata.get(PARENT)
    while parent is not None:
        above = hooks_of(parent).metadata
        lines = above.get(TRACEBACK)
        if lines is None:
            warnings.warn(
                f"\n\nPrevious calculation was induced by {parent.name()}. No forward pass information available. Enable "
                "detect anomaly during forward pass for more information.",
                stacklevel=2,
            )
            return
        warnings.warn(
            f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call that induced the "
            f"previous calculation:\n{''.join(lines)}",
            stacklevel=2,
        )
        parent = above.get(PARENT)
