"""`torch._custom_ops`: the older way of defining operators, kept because libraries import it; see `torch.library`."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch import library
from mindtorch._custom_op.checks import parse_qualname, validate_namespace
from mindtorch._custom_op.impl import _custom_op_with_schema, _find_custom_op
from mindtorch._naming import adopt
from mindtorch.library import get_ctx, infer_schema

__all__ = ["custom_op", "get_ctx", "impl", "impl_abstract", "impl_backward", "impl_save_for_backward"]

Function = Callable[..., Any]


def custom_op(qualname: str, func_or_schema: Function | str | None = None) -> Any:
    """Define an operator from a signature, or from a function's annotations; without either return a decorator.

    Raises:
        ValueError: what is decorated is no function, or has another name than the operator.
    """
    ns, name = parse_qualname(qualname)
    validate_namespace(ns)

    def define(func: Any) -> Any:
        if not inspect.isfunction(func):
            raise ValueError(f"custom_op(...)(func): Expected `func` to be a Python function, got: {type(func)}")
        if func.__name__ != name:
            raise ValueError(
                f"custom_op(qualname='{qualname}', ...)(func): expected `func` to have name '{name}' but got "
                f"'{func.__name__}'. Please either change the name of `func` or the qualname that is passed to "
                "`custom_op`"
            )
        _custom_op_with_schema(ns, name, infer_schema(func, mutates_args=()))
        return func

    if func_or_schema is None:
        return define
    if isinstance(func_or_schema, str):
        _custom_op_with_schema(ns, name, func_or_schema)
        return None
    return define(func_or_schema)


def _given(register: Callable[[Function], Any], func: Function | None) -> Any:
    """Return a decorator, or what was registered."""

    def decorate(func: Function) -> Function:
        register(func)
        return func

    return decorate if func is None else decorate(func)


def impl(qualname: str, *, device_types: str | Sequence[str] = ("cpu", "cuda"), func: Function | None = None) -> Any:
    """Register what computes the operator on these devices; without `func` return a decorator."""
    return _given(lambda func: _found(qualname).impl(device_types, _stacklevel=5)(func), func)


def impl_abstract(qualname: str, *, func: Function | None = None) -> Any:
    """Register what gives the operator's result without data; without `func` return a decorator."""
    return library.register_fake(qualname, func)


def impl_save_for_backward(qualname: str, *, func: Function | None = None) -> Any:
    """Register what saves values for the backward, of the inputs by name and the output; without `func` return a decorator."""
    return _given(lambda func: _found(qualname).impl_save_for_backward(_stacklevel=5)(func), func)


def impl_backward(
    qualname: str, output_differentiability: list[bool] | None = None, *, func: Function | None = None
) -> Any:
    """Register the backward: of what was saved and the gradients of the outputs it returns a dict of gradients by names
    of inputs. Without `func` return a decorator.

    Raises:
        RuntimeError: the operator writes, returns views, or has a derivative; or other than a bool is given for each output.
    """
    return _given(lambda func: _found(qualname).impl_backward(output_differentiability, _stacklevel=5)(func), func)


def _found(qualname: str) -> Any:
    return _find_custom_op(qualname, also_check_torch_library=True)


def _destroy(qualname: str) -> None:
    """Take an operator back."""
    _find_custom_op(qualname)._destroy()


adopt(globals())
