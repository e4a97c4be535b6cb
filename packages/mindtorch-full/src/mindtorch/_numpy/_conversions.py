"""How arguments of array functions become tensors, and results arrays."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch_storage.lazy_import import LazyModule

from . import _dtypes, _dtypes_impl, _util

_arrays = LazyModule("mindtorch._numpy._ndarray", "arrays are made of these")
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def as_tensor(x: Any) -> Any:
    """Return the tensor of what an array can be made of."""
    return _arrays.asarray(x).tensor


def _array(x: Any, name: str) -> Any:
    return as_tensor(x)


def _array_or_number(x: Any, name: str) -> Any:
    return x if _dtypes_impl.is_scalar(x) else as_tensor(x)


def _optional(convert: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    return lambda x, name: None if x is None else convert(x, name)


def _arrays_of(x: Any, name: str) -> Any:
    return tuple(map(as_tensor, x))


def _written(x: Any, name: str) -> Any:
    """An array that is written to, which nothing else can stand for."""
    if x is None:
        return None
    if not isinstance(x, _arrays.ndarray):
        raise TypeError(f"'{name}' must be an array")
    return x.tensor


def _out(x: Any, name: str) -> Any:
    if isinstance(x, tuple):
        return tuple(_out(one, name) for one in x)
    if isinstance(x, mindtorch.Tensor):
        return _arrays.ndarray(x)
    if x is not None and not isinstance(x, _arrays.ndarray):
        raise TypeError(f"'{name}' must be an array")
    return x


def _dtype(x: Any, name: str) -> Any:
    return None if x is None else _dtypes.dtype(x).torch_dtype


def _axis(x: Any, name: str) -> Any:
    return operator.index(x) if isinstance(x, _arrays.ndarray) else x


def _casting(x: Any, name: str) -> Any:
    if x not in _CASTINGS:
        raise ValueError(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '{x}')")
    return x


_BY_NAME: dict[str, Callable[[Any, str], Any]] = {
    "dtype": _dtype,
    "out": _out,
    "out1": _out,
    "out2": _out,
    "axis": _axis,
    "casting": _casting,
}
_BY_MARK: dict[str, Callable[[Any, str], Any]] = {"~": _array_or_number, "+": _arrays_of, "!": _written}


def _converters(arrays: str, fixed: str, signature: inspect.Signature) -> dict[str, Callable[[Any, str], Any]]:
    """Return what each parameter's arguments go through."""
    found = {name: convert for name, convert in _BY_NAME.items() if name in signature.parameters}
    for word in arrays.split():
        name = word.rstrip("~+!")
        convert = _BY_MARK.get(word[len(name) :], _array)
        found[name] = _optional(convert) if signature.parameters[name].default is None else convert
    for name in fixed.split():
        found[name] = functools.partial(_default_alone, signature.parameters[name].default)
    return found


def _default_alone(default: Any, x: Any, name: str) -> Any:
    if x is not default and x != default:
        raise NotImplementedError(f"'{name}' parameter is not supported.")
    return x


def takes(
    arrays: str = "", *, fixed: str = "", squeeze: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function over tensors one over arrays.

    Args:
        arrays: the parameters that become tensors; one with `~` may stay a number, `+` is a sequence of arrays, `!` must
            be an array, because it is written to. None stays None where it is the default.
        fixed: parameters whose default alone is supported.
        squeeze: a result of one element fits into an `out` without dimensions.

    `dtype`, `out`, `axis` and `casting` are converted by their names. What is written to `out`, and the dimensions that
    `keepdims` keeps, are the decorator's work and not the function's.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)
        converters = _converters(arrays, fixed, signature)
        variadic = {p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL}
        keeps, writes = "keepdims" in converters or "keepdims" in signature.parameters, "out" in signature.parameters
        first = next(iter(signature.parameters), "")

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            given = bound.arguments
            for name, convert in converters.items():
                if name in variadic and name in given:
                    given[name] = tuple(convert(one, name) for one in given[name])
                elif name in given:
                    given[name] = convert(given[name], name)
            result = function(*bound.args, **bound.kwargs)
            if keeps and given.get("keepdims", False) and isinstance(result, mindtorch.Tensor):
                result = _util.apply_keepdims(result, given.get("axis"), given[first].ndim)
            if writes:
                result = copied(given.get("out"), result, squeeze)
            return wrapped(result)

        return call

    return decorate


def copied(out: Any, result: Any, squeeze: bool = False) -> Any:
    """Copy a result into an array that was given for it, and return that."""
    if out is None:
        return result
    if isinstance(result, (tuple, list)):
        return type(result)(copied(place, one, squeeze) for place, one in zip(out, result, strict=False))
    if tuple(result.shape) != out.shape:
        if not (squeeze and result.numel() == 1 and out.ndim == 0):
            raise ValueError(f"Bad size of the out array: out.shape = {out.shape} while result.shape = {result.shape}.")
        result = result.squeeze()
    out.tensor.copy_(result)
    return out


def wrapped(result: Any) -> Any:
    """Return arrays for tensors, also inside tuples and lists."""
    if isinstance(result, mindtorch.Tensor):
        return _arrays.ndarray(result)
    if isinstance(result, (tuple, list)):
        return type(result)([wrapped(one) for one in result])
    return result
