"""Optimizer steps over ten tensors of a million elements each."""

from collections.abc import Callable
from typing import Any

import torch

TENSORS, ELEMENTS = 10, 1_000_000


def _parameters() -> list[Any]:
    made = [torch.nn.Parameter(torch.randn(ELEMENTS)) for _ in range(TENSORS)]
    for parameter in made:
        parameter.grad = torch.randn(ELEMENTS)
    return made


def _steps(name: str, **options: object) -> Callable[[], Callable[[], object]]:
    return lambda: getattr(torch.optim, name)(_parameters(), **options).step


adam = _steps("Adam", lr=1e-5)
adam_fused = _steps("Adam", lr=1e-5, fused=True)
adamw = _steps("AdamW", lr=1e-5)
adamw_foreach = _steps("AdamW", lr=1e-5, foreach=True)
adamw_fused = _steps("AdamW", lr=1e-5, fused=True)
sgd = _steps("SGD", lr=1e-5, momentum=0.9)
sgd_fused = _steps("SGD", lr=1e-5, momentum=0.9, fused=True)
adagrad_fused = _steps("Adagrad", lr=1e-5, fused=True)


def clip_gradients() -> Callable[[], object]:
    """The norm of all gradients, and their scaling."""
    parameters = _parameters()
    return lambda: torch.nn.utils.clip_grad_norm_(parameters, 1.0)


def zero_gradients() -> Callable[[], object]:
    """Gradients kept and filled with zeros."""
    optimizer = torch.optim.SGD(_parameters(), lr=0.1)
    return lambda: optimizer.zero_grad(set_to_none=False)
