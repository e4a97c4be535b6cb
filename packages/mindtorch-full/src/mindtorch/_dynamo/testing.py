"""`torch._dynamo.testing`: backends that count and keep the graphs they are given, and random tensors with strides."""

from __future__ import annotations

import contextlib
import functools
import unittest
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import mindtorch as torch
from mindtorch._dynamo import lookup_backend
from mindtorch._dynamo import reset as reset
from mindtorch._naming import adopt

__all__ = ["CompileCounter", "CompileCounterWithBackend", "EagerAndRecordGraphs", "rand_strided", "same"]


def _operations(gm: Any) -> int:
    return sum("call" in node.op for node in gm.graph.nodes)


class CompileCounter:
    """A backend that runs graphs as they are, and counts them and the calls in them."""

    def __init__(self) -> None:
        self.frame_count: int | str = 0
        self.op_count = 0
        self.clear()

    def __call__(self, gm: Any, example_inputs: list[torch.Tensor]) -> Any:
        self.frame_count += 1  # type: ignore[operator]
        self.op_count += _operations(gm)
        return gm.forward

    def clear(self) -> None:
        """Begin to count anew."""
        self.frame_count = self.op_count = 0


class CompileCounterWithBackend:
    """A backend that counts graphs and keeps them, and has another one compile them."""

    def __init__(self, backend: Any) -> None:
        self.frame_count: int | str = 0
        self.op_count = 0
        self.backend = backend
        self.graphs: list[Any] = []

    def __call__(self, gm: Any, example_inputs: list[torch.Tensor]) -> Any:
        self.frame_count += 1  # type: ignore[operator]
        self.op_count += _operations(gm)
        self.graphs.append(gm)
        if self.backend == "inductor":
            return gm.forward
        return lookup_backend(self.backend)(gm, example_inputs)

    def clear(self) -> None:
        """Begin to count anew, without graphs."""
        self.frame_count = self.op_count = 0
        self.graphs = []


class EagerAndRecordGraphs:
    """A backend that runs graphs as they are, and keeps them."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []
        self.example_inputs: list[Any] = []

    def __call__(self, gm: Any, example_inputs: list[torch.Tensor]) -> Any:
        self.graphs.append(gm)
        self.example_inputs.append(example_inputs)
        return gm.forward


def same(a: Any, b: Any, tol: float = 1e-4, equal_nan: bool = False) -> bool:
    """Return whether two results, of tensors in containers, have the same form and numbers within `tol`."""
    try:
        torch.testing.assert_close(a, b, rtol=tol, atol=tol, equal_nan=equal_nan)
    except AssertionError:
        return False
    return True


def rand_strided(
    size: Sequence[int],
    stride: Sequence[int],
    dtype: torch.dtype = torch.float32,
    device: Any = "cpu",
    extra_size: int = 0,
) -> torch.Tensor:
    """Return a tensor of random numbers with these strides; its memory has ``extra_size`` elements more than needed."""
    needed = sum((length - 1) * step for length, step in zip(size, stride, strict=True)) + 1 + extra_size
    if dtype.is_floating_point or dtype.is_complex:
        memory = torch.randn(needed, dtype=dtype, device=device)
    else:
        memory = torch.zeros(needed, dtype=dtype, device=device)
    return torch.as_strided(memory, size, stride)


def _patched(fn: Callable[..., Any], patches: Sequence[tuple[Any, str, Any]]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        with contextlib.ExitStack() as stack:
            for module, name, value in patches:
                stack.enter_context(mock.patch.object(module, name, value))
            return fn(*args, **kwargs)

    return run


def make_test_cls_with_patches(
    cls: type,
    cls_prefix: str,
    fn_suffix: str,
    *patches: tuple[Any, str, Any],
    xfail_prop: str | None = None,
    decorator: Callable[[Any], Any] = lambda test: test,
) -> type:
    """Return a class of the tests of another one, which run while attributes of modules have other values.

    Args:
        cls_prefix: stands before the class's name.
        fn_suffix: stands behind the names of its tests.
        patches: modules, names of their attributes, and the values.
        xfail_prop: tests that have an attribute of this name are expected to fail.
        decorator: is applied to every test.
    """
    made = type(f"{cls_prefix}{cls.__name__}", cls.__bases__, {})
    made.__qualname__ = made.__name__
    for name in dir(cls):
        one = getattr(cls, name)
        if name.startswith("test_") and callable(one):
            test = _patched(one, patches)
            test.__name__ = name + fn_suffix
            if xfail_prop is not None and hasattr(one, xfail_prop):
                test = unittest.expectedFailure(test)
            setattr(made, name + fn_suffix, decorator(test))
        elif name.startswith("test_") or not hasattr(made, name):
            setattr(made, name, one)
    return made


adopt(globals())
