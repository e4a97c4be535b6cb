"""`torch._custom_ops`: the older way of defining operators, kept because libraries import it; see `torch.library`."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch import library
from mindtorch._naming import adopt
from mindtorch.library import get_ctx

__all__ = ["custom_op", "get_ctx", "impl", "impl_abstract"]

Function = Callable[..., Any]


def custom_op(qualname: str, func_or_schema: Function | str | None = None) -> Any:
    """Define an operator from a signature, or from a function's annotations; without either return a decorator.

    Raises:
        ValueError: what is decorated is no function, or has another name than the operator.
    """
    name = qualname.rpartition("::")[2]

    def define(func: Any) -> Any:
        if not inspect.isfunction(func):
            raise ValueError(f"custom_op(...)(func): Expected `func` to be a Python function, got: {type(func)}")
        if func.__name__ != name:
            raise ValueError(
                f"custom_op(qualname='{qualname}', ...)(func): expected `func` to have name '{name}' but got "
                f"'{func.__name__}'. Please either change the name of `func` or the qualname that is passed to "
                "`custom_op`"
            )
        library.define(qualname, library.infer_schema(func, mutates_args=()))
        return func

    if func_or_schema is None:
        return define
    if isinstance(func_or_schema, str):
        library.define(qualname, func_or_schema)
        return None
    return define(func_or_schema)


def impl(qualname: str, *, device_types: str | Sequence[str] = ("cpu", "cuda"), func: Function | None = None) -> Any:
    """Register what computes the operator on these devices; without `func` return a decorator."""

    def register(func: Function) -> Function:
        library.impl(qualname, device_types, func)
        return func

    return register if func is None else register(func)


def impl_abstract(qualname: str, *, func: Function | None = None) -> Any:
    """Register what gives the operator's result without data; without `func` return a decorator."""
    return library.register_fake(qualname, func)


adopt(globals())
