"""Padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_dispatch.call import aten

from ..derivative import derivative


def _through(name: str) -> Callable[..., Any]:
    return lambda grad, self, padding: getattr(aten, name)(grad, self, padding)


def _again(name: str) -> Callable[..., Any]:
    return lambda grad, padding: getattr(aten, name)(grad, padding)


derivative("constant_pad_nd", self=lambda grad, pad: aten.constant_pad_nd(grad, [-side for side in pad], 0))
for _mode in ("reflection", "replication"):
    for _dims in (1, 2, 3):
        _name = f"{_mode}_pad{_dims}d"
        derivative(_name, self=_through(f"{_name}_backward"))
        derivative(f"{_name}_backward", grad_output=_again(_name), self=lambda grad, self: aten.zeros_like(self))
