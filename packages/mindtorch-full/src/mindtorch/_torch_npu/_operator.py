"""How a function becomes an operator of `torch.ops.npu`: its schema is torch_npu's, it is made of torch's own operators.

Those of the vendor's transformer library are of `torch.ops.atb`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NoReturn, TypeVar

from mindtorch import library
from mindtorch.tensor.tensor import Tensor

__all__ = ["SCHEMAS", "operator", "refuse", "refuse_given"]

F = TypeVar("F", bound=Callable[..., object])

SCHEMAS: dict[str, str] = {}
"""The schemas of `torch.ops.npu`'s operators by name."""


@cache
def _library(space: str) -> library.Library:
    """Return what declares a namespace's operators: for as long as the process lives."""
    return library.Library(space, "DEF")


def operator(schema: str, *, out: bool = False, space: str = "npu") -> Callable[[F], F]:
    """Make a function the operator of this schema, and with `out` one that also writes into a tensor that is given."""

    def declare(function: F) -> F:
        name = schema.partition("(")[0]
        if space == "npu":
            SCHEMAS[name] = schema
        _declare(schema, function, space)
        if out:
            arguments, returned = schema.removeprefix(f"{name}(").rsplit(") -> ", 1)
            joint = ", " if "*," in arguments else ", *, "
            if returned != "Tensor":
                raise ValueError(f"{name}: only one tensor can be written into")
            written = f"{name}.out({arguments}{joint}Tensor(a!) out) -> Tensor(a!)"
            _declare(written, _writing(function), space)
        return function

    return declare


def _declare(schema: str, function: Callable[..., object], space: str) -> None:
    _library(space).define(schema)
    _library(space).impl(schema.partition("(")[0], function, "CompositeImplicitAutograd")


def _writing(function: Callable[..., object]) -> Callable[..., Tensor]:
    def write(*args: object, out: Tensor, **kwargs: object) -> Tensor:
        made = function(*args, **kwargs)
        if not isinstance(made, Tensor):
            raise TypeError(f"an operator made a {type(made).__name__} instead of a tensor")
        return out.resize_(made.shape).copy_(made)

    return write


def refuse(name: str, what: str) -> NoReturn:
    """Raise NotImplementedError for what an operator does not compute."""
    raise NotImplementedError(f"torch_npu.{name}: {what} is not supported")


def refuse_given(name: str, **given: object) -> None:
    """Raise NotImplementedError for those of the arguments that are given: other than None, zero or empty."""
    found = [key for key, value in given.items() if isinstance(value, Tensor) or value not in (None, 0, "", [], ())]
    if found:
        refuse(name, ", ".join(found))
