"""`torch._numpy.testing`: numpy's assertions for arrays over tensors."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindtorch._naming import adopt
from mindtorch._numpy import arange, empty
from mindtorch._numpy._ndarray import asarray, ndarray

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
_assert_allclose = _over_tensors(np.testing.assert_allclose)
assert_almost_equal = _over_tensors(np.testing.assert_almost_equal)
assert_approx_equal = _over_tensors(np.testing.assert_approx_equal)
assert_array_almost_equal = _over_tensors(np.testing.assert_array_almost_equal)
assert_array_almost_equal_nulp = _over_tensors(np.testing.assert_array_almost_equal_nulp)
assert_array_equal = _over_tensors(np.testing.assert_array_equal)
assert_array_less = _over_tensors(np.testing.assert_array_less)
assert_array_max_ulp = _over_tensors(np.testing.assert_array_max_ulp)
assert_equal = _over_tensors(np.testing.assert_equal)


def assert_allclose(
    actual: Any,
    desired: Any,
    rtol: float = 1e-7,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = "",
    verbose: bool = True,
    check_dtype: bool = False,
) -> None:
    """Raise where elements differ by more than a tolerance, and with ``check_dtype`` where types do."""
    __tracebackhide__ = True
    if check_dtype and asarray(actual).dtype != asarray(desired).dtype:
        raise AssertionError(f"dtype mismatch: {asarray(actual).dtype} != {asarray(desired).dtype}")
    _assert_allclose(actual, desired, rtol=rtol, atol=atol, equal_nan=equal_nan, err_msg=err_msg, verbose=verbose)


def _gen_alignment_data(dtype: Any = "float32", type: str = "binary", max_size: int = 24) -> Iterator[tuple[Any, ...]]:
    """The array for a result, the operands and a text, for arrays that begin at several places."""
    count = {"unary": 1, "binary": 2}[type]
    for offset in range(3):
        for size in range(offset + 2, max(offset + 3, max_size)):
            starts = [offset, *range(1, count)]
            operands = [arange(size, dtype=dtype)[start:][: size - offset] for start in starts]
            shortest = min(len(one) for one in operands)
            operands = [one[:shortest] for one in operands]
            out = empty((size,), dtype=dtype)[offset:][:shortest]
            text = f"{type} offsets={starts}, size={size}, dtype={dtype!r}"
            for result in (out, *operands):
                yield (result, *operands, text)


adopt(globals())
