"""Which formula holds for which pair of laws."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch.distributions.distribution import Distribution

_KL_REGISTRY: dict[tuple[type, type], Callable[..., Any]] = {}
_KL_MEMOIZE: dict[tuple[type, type], Callable[..., Any]] = {}


def register_kl(type_p: Any, type_q: Any) -> Callable[[Any], Any]:
    """A decorator: the function computes the divergence of the first law from the second.

    >>> torch.distributions.register_kl(torch.distributions.Normal, torch.distributions.Normal)(lambda p, q: 0)(1, 2)
    0
    """
    for name, value in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(value, type) and issubclass(value, Distribution):  # a class of any kind is taken, as in torch
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {value}")

    def decorator(fun: Any) -> Any:
        _KL_REGISTRY[type_p, type_q] = fun
        _KL_MEMOIZE.clear()
        return fun

    return decorator


@functools.total_ordering
class _Match:
    """Orders pairs of types: a more special pair comes first."""

    __slots__ = ("types",)

    def __init__(self, *types: type) -> None:
        self.types = types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Match) and self.types == other.types

    def __hash__(self) -> int:
        return hash(self.types)

    def __le__(self, other: _Match) -> bool:
        for x, y in zip(self.types, other.types, strict=True):
            if not issubclass(x, y):
                return False
            if x is not y:
                break
        return True


def _dispatch_kl(type_p: type, type_q: type) -> Callable[..., Any]:
    """The formula of the most special registered pair."""
    matches = [
        (super_p, super_q)
        for super_p, super_q in _KL_REGISTRY
        if issubclass(type_p, super_p) and issubclass(type_q, super_q)
    ]
    if not matches:
        return NotImplemented  # type: ignore[return-value]
    left_p, left_q = min(_Match(*m) for m in matches).types
    right_q, right_p = min(_Match(*reversed(m)) for m in matches).types
    left = _KL_REGISTRY[left_p, left_q]
    if left is not _KL_REGISTRY[right_p, right_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({left_p.__name__}, {right_q.__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return left


def kl_divergence(p: Any, q: Any) -> torch.Tensor:
    """How far ``p`` is from ``q``: the mean of the difference of log-densities under ``p``.

    >>> torch.distributions.kl_divergence(torch.distributions.Normal(0.0, 1.0), torch.distributions.Normal(1.0, 1.0))
    tensor(0.5000)
    """
    try:
        fun = _KL_MEMOIZE[type(p), type(q)]
    except KeyError:
        fun = _KL_MEMOIZE[type(p), type(q)] = _dispatch_kl(type(p), type(q))
    if fun is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}"
        )
    return fun(p, q)


def _infinite_like(tensor: Any) -> Any:
    """Infinity in the shape of a tensor."""
    return torch.full_like(tensor, math.inf)


def _x_log_x(tensor: Any) -> Any:
    return torch.special.xlogy(tensor, tensor)
