"""`torch._numpy.testing`: numpy's assertions for arrays over tensors."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch._naming import adopt
from mindtorch._numpy._ndarray import ndarray

IS_WASM = sys.platform == "emscripten"
HAS_REFCOUNT = hasattr(sys, "getrefcount")
assert_raises_regex = np.testing.assert_raises_regex
assert_warns = np.testing.assert_warns
suppress_warnings = np.testing.suppress_warnings


def _plain(value: Any) -> Any:
    """An array as one of numpy, also inside lists, tuples and dictionaries."""
    if isinstance(value, ndarray):
        return value.tensor.detach().resolve_conj().numpy()
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if type(value) is dict:
        return {key: _plain(one) for key, one in value.items()}
    return value


def _over_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return function(*map(_plain, args), **{name: _plain(value) for name, value in kwargs.items()})

    return call


assert_ = _over_tensors(np.testing.assert_)
assert_allclose = _over_tensors(np.testing.assert_allclose)
assert_almost_equal = _over_tensors(np.testing.assert_almost_equal)
assert_approx_equal = _over_tensors(np.testing.assert_approx_equal)
assert_array_almost_equal = _over_tensors(np.testing.assert_array_almost_equal)
assert_array_almost_equal_nulp = _over_tensors(np.testing.assert_array_almost_equal_nulp)
assert_array_equal = _over_tensors(np.testing.assert_array_equal)
assert_array_less = _over_tensors(np.testing.assert_array_less)
assert_array_max_ulp = _over_tensors(np.testing.assert_array_max_ulp)
assert_equal = _over_tensors(np.testing.assert_equal)

adopt(globals())
