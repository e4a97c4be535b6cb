"""Scenarios of modes and subclasses: one function run with our module and with torch, whose plain results are compared."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing.scenarios import Scenarios as Scenarios

torch = pytest.importorskip("torch", reason="oracle")

_ADDRESS = re.compile(r"0x[0-9a-f]+")


def part(T: Any, name: str) -> Any:
    """Return the submodule `name` of torch or of ours."""
    return importlib.import_module(f"{T.__name__}.{name}")


def plain(value: Any) -> Any:
    """Return `value` as comparable plain data."""
    if isinstance(value, BaseException):
        return type(value).__name__, _ADDRESS.sub("0x", str(value))
    if isinstance(value, (mt.Tensor, torch.Tensor)):
        return _ADDRESS.sub("0x", repr(value))
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (int, float, complex, bytes, type(None))):
        return value
    return _ADDRESS.sub("0x", value if isinstance(value, str) else str(value))


def caught(call: Callable[[], Any]) -> Any:
    """Return what `call` returns as plain data, or the type and text of what it raises."""
    try:
        return plain(call())
    except Exception as error:  # noqa: BLE001 (any error is an outcome)
        return plain(error)


def assert_same(scenario: Callable[[Any], Any]) -> None:
    """Run the scenario on both sides; the outcomes must be equal."""
    ours, expected = caught(lambda: scenario(mt)), caught(lambda: scenario(torch))
    if ours != expected:
        raise AssertionError(f"\n  ours: {ours}\n torch: {expected}")


def logging_mode(T: Any, values: bool = False) -> Any:
    """Return a mode that notes the operators it sees, in `log`; with `values`, their arguments too."""
    base = part(T, "utils._python_dispatch").TorchDispatchMode

    class Log(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            self.log: list[Any] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            note = str(func)
            self.log.append((note, shown(T, args), shown(T, kwargs)) if values else note)
            return func(*args, **kwargs)

    return Log()


def shown(T: Any, value: Any) -> Any:
    """Return arguments with tensors by shape."""
    if isinstance(value, T.Tensor):
        return f"T{list(value.shape)}"
    if isinstance(value, dict):
        return {key: shown(T, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(shown(T, item) for item in value)
    return str(value) if not isinstance(value, (int, float)) else value


def wrapper_class(T: Any, log: list[Any] | None = None) -> Any:
    """Return a class of tensors that wrap one, hand every call on to it and wrap the results."""
    tree_map = part(T, "utils._pytree").tree_map

    class Wrapper(T.Tensor):  # type: ignore[misc, name-defined]
        __torch_function__ = T._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls: Any, elem: Any, requires_grad: bool = False) -> Any:
            return T.Tensor._make_wrapper_subclass(
                cls, elem.size(), strides=elem.stride(), storage_offset=elem.storage_offset(), dtype=elem.dtype,
                layout=elem.layout, device=elem.device, requires_grad=requires_grad,
            )  # fmt: skip

        def __init__(self, elem: Any, requires_grad: bool = False) -> None:
            self.elem = elem

        def __repr__(self) -> str:
            return f"Wrapper({self.elem!r})"

        def __tensor_flatten__(self) -> Any:
            return ["elem"], None

        @staticmethod
        def __tensor_unflatten__(inner: Any, meta: Any, size: Any, stride: Any) -> Any:
            return Wrapper(inner["elem"])

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if log is not None:
                log.append(str(func))
            unwrap = lambda x: x.elem if isinstance(x, Wrapper) else x  # noqa: E731
            wrap = lambda x: Wrapper(x) if isinstance(x, T.Tensor) else x  # noqa: E731
            return tree_map(wrap, func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {})))

    return Wrapper
