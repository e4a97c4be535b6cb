"""`torch._numpy.random`: random numbers of torch's stream, or of numpy's where `torch._dynamo.config` says so."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import mindtorch
from mindtorch._dynamo import config
from mindtorch._naming import adopt

from . import _dtypes_impl, _util
from ._conversions import as_tensor, takes
from ._ndarray import ndarray

__all__ = [
    *("choice", "normal", "rand", "randint", "randn", "random", "random_sample", "sample", "seed", "shuffle", "uniform")
]


def use_numpy_random() -> bool:
    """Return whether the numbers are numpy's."""
    return bool(config.use_numpy_random_stream)


def _stream(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have numpy's function called in place of one, where its stream is asked for."""

    def plain(value: Any) -> Any:
        return value.tensor.numpy() if isinstance(value, ndarray) else value

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not use_numpy_random():
            return function(*args, **kwargs)
        given = {name: plain(value) for name, value in kwargs.items()}
        value = getattr(np.random, function.__name__)(*map(plain, args), **given)
        return ndarray(mindtorch.as_tensor(value)) if isinstance(value, np.ndarray) else value

    return call


def _array_or_number(values: Any, size: Any, kind: type = float) -> Any:
    return kind(values.item()) if size == () else ndarray(values)


def _empty(size: Any) -> Any:
    return mindtorch.empty(size, dtype=_dtypes_impl.default_dtypes().float_dtype)


@_stream
def seed(seed: Any = None) -> None:
    """Begin the stream anew."""
    if seed is not None:
        mindtorch.random.manual_seed(seed)


@_stream
def random_sample(size: Any = None) -> Any:
    """Numbers between zero and one."""
    size = () if size is None else size
    return _array_or_number(_empty(size).uniform_(), size)


def rand(*size: Any) -> Any:
    """Numbers between zero and one, of a shape."""
    return random_sample(None if size == () else size)


sample = random = random_sample


@_stream
def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """Numbers between two limits."""
    size = () if size is None else size
    return _array_or_number(_empty(size).uniform_(low, high), size)


@_stream
def randn(*size: Any) -> Any:
    """Numbers of the standard normal distribution, of a shape."""
    return _array_or_number(mindtorch.randn(size, dtype=_dtypes_impl.default_dtypes().float_dtype), size)


@_stream
def normal(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """Numbers of a normal distribution."""
    size = () if size is None else size
    return _array_or_number(_empty(size).normal_(loc, scale), size)


@_stream
def shuffle(x: Any) -> None:
    """Put the rows of an array into a random order."""
    tensor = x.tensor if isinstance(x, ndarray) else x
    if not isinstance(tensor, mindtorch.Tensor):
        raise NotImplementedError("We do not random.shuffle lists in-place")
    tensor.copy_(tensor[mindtorch.randperm(tensor.shape[0])])


@_stream
def randint(low: Any, high: Any = None, size: Any = None) -> Any:
    """Whole numbers between two limits, the upper one excluded."""
    size = () if size is None else size
    size = size if isinstance(size, (tuple, list)) else (size,)
    low, high = (0, low) if high is None else (low, high)
    return _array_or_number(mindtorch.randint(low, high, size=size), size, int)


@_stream
@takes("a p")
def choice(a: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
    """Random elements of an array."""
    a = mindtorch.arange(a) if a.numel() == 1 else a
    count = 1 if size is None else math.prod(size) if _util.is_sequence(size) else size
    p = mindtorch.ones_like(a) / a.shape[0] if p is None else as_tensor(p)
    if abs(p.sum() - 1.0) > math.sqrt(mindtorch.finfo(p.dtype).eps):
        raise ValueError("probabilities do not sum to 1.")
    places = mindtorch.multinomial(p, count, replacement=replace)
    return a[places.reshape(size) if _util.is_sequence(size) else places]


adopt(globals())
