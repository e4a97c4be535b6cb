"""What subclasses with `__torch_dispatch__`, and modes, meet beside their calls: printing, copies, aliases; beside torch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch
import mindtorch.utils._python_dispatch

torch = pytest.importorskip("torch", reason="oracle")


def _wrapper(T: Any) -> Any:
    class Wrapper(T.Tensor):
        @staticmethod
        def __new__(cls: Any, held: Any, **options: Any) -> Any:
            made = T.Tensor._make_wrapper_subclass(
                cls, held.size(), dtype=held.dtype, requires_grad=held.requires_grad, **options
            )
            made.held = held
            return made

        def __repr__(self) -> str:
            return super().__repr__(tensor_contents=f"{self.held}")

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            plain = [one.held if isinstance(one, cls) else one for one in args]
            out = func(*plain, **(kwargs or {}))
            made = [cls(one) for one in out] if isinstance(out, (list, tuple)) else cls(out)
            return T.utils._python_dispatch.return_and_correct_aliasing(func, args, kwargs, made)

    return Wrapper


def _printed(T: Any) -> Any:
    wrapper = _wrapper(T)
    held = [T.ones(2), T.ones(0, 3), T.ones(()), T.ones(2, dtype=T.int32), T.ones(1, requires_grad=True)]
    return [str(wrapper(one, **options)) for one in held for options in ({}, {"device": "meta"})]


def _custom_operator(T: Any) -> Any:
    with T.library._scoped_library("test_dispatch_of_subclasses", "FRAGMENT") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.define("rows(Tensor(a) x) -> Tensor(a)[]")
        library.impl("twice", lambda x: x * 2, "CPU")
        library.impl("rows", lambda x: list(x.unbind(0)), "CPU")
        operators = T.ops.test_dispatch_of_subclasses
        given = _wrapper(T)(T.arange(4.0).reshape(2, 2))
        rows = operators.rows(given)
        return operators.twice(given).held.tolist(), [type(one) is type(given) for one in rows]


def _copied(T: Any, **members: Any) -> Any:
    return type(copy.deepcopy(type("Sub", (T.Tensor,), members)(3))).__name__


def _class_method(T: Any) -> Any:
    def handle(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))

    mode = type("Mode", (T.utils._python_dispatch.TorchDispatchMode,), {"__torch_dispatch__": classmethod(handle)})
    with mode():
        return T.ones(1) + 1


def _like_subclasses(T: Any) -> Any:
    like = T._C._dispatch_isTensorSubclassLike
    seen = []
    T.vmap(lambda x: seen.append(like(x)) or x)(T.ones(2))
    tensors = (
        T.ones(1),
        T.nn.Parameter(T.ones(1)),
        T.ones(1, device="meta"),
        T.ones(1).to_sparse(),
        _wrapper(T)(T.ones(1)),
    )
    return [*seen, *(like(one) for one in tensors)]


def _boxed(T: Any, name: str = "aten::add", overload: str = "Tensor") -> Any:
    handle = T._C._dispatch_find_schema_or_throw(name, overload)
    return str(handle.schema()), T._C._dispatch_call_boxed(handle, T.ones(1), T.ones(1), alpha=2).tolist()


CASES: dict[str, Callable[[Any], Any]] = {
    "printed": _printed,
    "custom_operator": _custom_operator,
    "copied": _copied,
    "copied_with_other_new_empty": lambda T: _copied(T, new_empty=lambda self, shape: T.ones(shape)),
    "copied_with_new_empty": lambda T: _copied(T, new_empty=lambda self, shape: type(self)(shape)),
    "class_method": _class_method,
    "no_operator": lambda T: T.utils._python_dispatch._correct_storage_aliasing(3, None, (), ()),
    "no_list": lambda T: T.utils._python_dispatch._correct_storage_aliasing(T.ops.aten.add.Tensor, None, (), T.ones(2)),
    "like_subclasses": _like_subclasses,
    "boxed": _boxed,
    "no_schema": lambda T: _boxed(T, "aten::no_such_operator", ""),
    "no_overload": lambda T: _boxed(T, "aten::sin", "other"),
}


def _outcome(case: Callable[[Any], Any], T: Any) -> Any:
    try:
        return case(T)
    except Exception as error:  # noqa: BLE001 (the two sides are compared)
        return type(error).__name__, str(error)


@pytest.mark.parametrize("name", CASES)
def test_subclasses_and_modes_meet_what_they_meet_in_torch(name: str) -> None:
    assert _outcome(CASES[name], mindtorch) == _outcome(CASES[name], torch)


@pytest.mark.parametrize("name", ["handle_torch_function", "has_torch_function", "has_torch_function_unary"])
def test_functions_of_layers_bring_what_asks_for_overrides(name: str) -> None:
    for T in (mindtorch, torch):
        assert getattr(T.nn.functional, name) is getattr(T.overrides, name)
        assert name in dir(T.nn.functional)
