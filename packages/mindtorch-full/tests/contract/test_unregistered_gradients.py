"""Gradients through operators that nobody registered a backward for, under each mode of the fallback; beside torch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import mindtorch

torch = pytest.importorskip("torch", reason="oracle")

NAMESPACE = "test_unregistered_gradients"


def _apart(T: Any, tensor: Any) -> Any:
    return T.from_numpy(tensor.detach().numpy().copy())


SCHEMAS: dict[str, tuple[str, Callable[..., Any]]] = {
    "composed": ("(Tensor x) -> Tensor", lambda T, x: x * 2),
    "apart": ("(Tensor x) -> Tensor", _apart),
    "written": ("(Tensor(a!) x) -> Tensor(a!)", lambda T, x: x.add_(1)),
    "pair": ("(Tensor x) -> (Tensor, Tensor)", lambda T, x: (x * 2, _apart(T, x))),
    "lists": ("(Tensor[] x) -> Tensor[]", lambda T, x: [_apart(T, one) for one in x]),
    "leaf": ("(Tensor x) -> Tensor", lambda T, x: x),
}


@contextmanager
def _mode(T: Any, name: str) -> Iterator[None]:
    before = T._C._get_autograd_fallback_mode()
    T._C._set_autograd_fallback_mode(name)
    try:
        yield
    finally:
        T._C._set_autograd_fallback_mode(before)


def _answer(T: Any, name: str, mode: str) -> list[Any]:
    """Return the gradient, the results' nodes and how many warnings there were."""
    schema, kernel = SCHEMAS[name]
    with T.library._scoped_library(NAMESPACE, "FRAGMENT") as library, _mode(T, mode):
        library.define(name + schema)
        library.impl(name, lambda x: kernel(T, x), "CPU")
        leaf = T.arange(3.0).requires_grad_()
        made = leaf.clone() if name == "written" else leaf
        result = getattr(getattr(T.ops, NAMESPACE), name)([made, made * 2] if name == "lists" else made)
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        answers: list[Any] = [one.grad_fn and one.grad_fn.name().rpartition("::")[2] for one in results]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                sum((one.sum() for one in results), T.zeros(())).backward()
                answers.append(None if leaf.grad is None else leaf.grad.tolist())
            except RuntimeError as error:
                answers.append(str(error))
        return [*answers, sum("an autograd kernel was not registered" in str(one.message) for one in told)]


@pytest.mark.parametrize("mode", ["nothing", "warn"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_gradients_and_warnings_are_those_of_torch(name: str, mode: str) -> None:
    assert _answer(mindtorch, name, mode) == _answer(torch, name, mode)


def test_a_mode_that_is_none_is_refused() -> None:
    for T in (mindtorch, torch):
        with pytest.raises(RuntimeError, match="Unsupported AutogradFallbackMode: sometimes"):
            T._C._set_autograd_fallback_mode("sometimes")
    assert mindtorch._C._get_autograd_fallback_mode() == torch._C._get_autograd_fallback_mode() == "warn"


@pytest.mark.parametrize("dropped", [False, True])
def test_what_a_library_registered_goes_with_it_or_when_its_handle_is_reset(dropped: bool) -> None:
    for T in (mindtorch, torch):
        library = T.library.Library(NAMESPACE, "FRAGMENT")
        library.define("gone(Tensor x) -> Tensor")
        if dropped:
            del library.m  # what was registered stays: the library still holds it
        else:
            library.m.reset()
        name = f"{NAMESPACE}::gone"
        assert (name in T._C._dispatch_get_all_op_names()) is dropped
        del library
        assert name not in T._C._dispatch_get_all_op_names()


def test_a_hook_can_be_set_on_a_view_that_was_written_without_recording() -> None:
    leaf = mindtorch.ones(3, requires_grad=True)
    copy = leaf.clone()
    view = copy[:2]
    with mindtorch.no_grad():
        view.mul_(2)
    seen: list[Any] = []
    view.register_hook(lambda gradient: seen.append(gradient.tolist()))
    view.sum().backward()
    assert (seen, leaf.grad.tolist()) == ([[1.0, 1.0]], [1.0, 1.0, 0.0])
