"""Operators on bfloat16, computed in float32 and rounded once."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

MANY = (512, 3072)  # 1.5M elements

Step = Callable[[], object]


def _drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape or MANY).to(torch.bfloat16)


def brain_add_bias() -> Step:
    """One row to all rows."""
    a, b = _drawn(), _drawn(3072)
    return lambda: a + b


def brain_scale() -> Step:
    """By a number."""
    a = _drawn()
    return lambda: a * 0.37


def brain_relu() -> Step:
    """What is not below zero."""
    a = _drawn()
    return lambda: F.relu(a)


def brain_gelu() -> Step:
    """By the error function."""
    a = _drawn()
    return lambda: F.gelu(a)


def _product(rows: int, inner: int, columns: int) -> Callable[[], Step]:
    def case() -> Step:
        x, weight, bias = _drawn(rows, inner), _drawn(columns, inner), _drawn(columns)

        def step() -> None:
            with torch.no_grad():
                F.linear(x, weight, bias)

        return step

    return case


brain_linear = _product(512, 768, 3072)
brain_linear_one = _product(1, 768, 3072)


def brain_bmm() -> Step:
    """Scores of 48 heads."""
    a, b = _drawn(48, 128, 64), _drawn(48, 64, 128)
    return lambda: torch.bmm(a, b)


def brain_layer_norm() -> Step:
    """With weight and bias."""
    x, weight, bias = _drawn(512, 768), _drawn(768), _drawn(768)
    return lambda: F.layer_norm(x, [768], weight, bias)


def brain_softmax() -> Step:
    """Over the last dimension."""
    x = _drawn(6144, 128)
    return lambda: x.softmax(-1)


def brain_sum() -> Step:
    """Over the last dimension."""
    x = _drawn(6144, 128)
    return lambda: x.sum(-1)
