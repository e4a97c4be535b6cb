"""Programs of one line, made with either library: the value of the last part is compared, or the error."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import torch

import mindtorch as mt
from mindtorch_testing import assert_same_value
from mindtorch_testing.compare import call_for_error, error_text


class Pair(NamedTuple):
    """Two values that stand for a tensor."""

    first: Any
    second: Any

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> str:
        return f"{func.__name__} of a pair"


def last(program: str, library: Any) -> Any:
    def leaf(*values: float) -> Any:
        return library.tensor(values, dtype=library.float32).requires_grad_()

    def image(rows: int, columns: int) -> Any:
        return (library.arange(2.0 * rows * columns) ** 2 % 97).reshape(1, 2, rows, columns)

    library.manual_seed(0)
    scope = {"t": library, "F": library.nn.functional, "leaf": leaf, "image": image}
    scope |= {"nan": float("nan"), "inf": float("inf"), "np": np, "pair": Pair}
    *setup, call = program.split("; ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in setup:
            exec(line, scope)
        return eval(call, scope)


def assert_as_in_torch(program: str) -> None:
    """Compare what both libraries make of a program."""
    expected = call_for_error(lambda: last(program, torch))
    if expected is None:
        assert_same_value(lambda: last(program, mt), lambda: last(program, torch))
        return
    found = call_for_error(lambda: last(program, mt))
    assert found is not None, f"no error where torch raises {expected!r}"
    assert (type(found).__name__, error_text(found)) == (type(expected).__name__, error_text(expected))
