"""How many arithmetic operations an op takes, from its arguments; for the few ops that torch counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mindtorch_dispatch.execute.profiling import Argument
from mindtorch_dispatch.meta.window import window_count


def _matmul(arguments: Sequence[Argument], first: int) -> int:
    one, other = arguments[first].shape, arguments[first + 1].shape
    return 2 * math.prod(one) * other[-1]


def _conv2d(arguments: Sequence[Argument]) -> int:
    (count, _, height, width), (filters, depth, *window) = arguments[0].shape, arguments[1].shape
    stride, padding, dilation = (
        value if isinstance(value, list) else [value] * 2
        for value in (arguments[place].value if len(arguments) > place else None for place in (3, 4, 5))
    )
    if None in (*stride, *padding, *dilation):
        return 0
    outputs = map(window_count, (height, width), window, stride, padding, dilation)
    return 2 * count * filters * depth * math.prod(window) * math.prod(outputs)


_COUNTS: dict[str, Callable[[Sequence[Argument]], int]] = {
    "aten::mm": lambda arguments: _matmul(arguments, 0),
    "aten::bmm": lambda arguments: _matmul(arguments, 0),
    "aten::addmm": lambda arguments: _matmul(arguments, 1),
    "aten::baddbmm": lambda arguments: _matmul(arguments, 1),
    "aten::conv2d": _conv2d,
    "aten::add": lambda arguments: math.prod(arguments[0].shape),
    "aten::mul": lambda arguments: math.prod(arguments[0].shape),
}


def flops(name: str, arguments: Sequence[Argument]) -> int:
    """Return the operations of a call, 0 for ops that are not counted."""
    count = _COUNTS.get(name)
    return 0 if count is None or not arguments else count(arguments)
