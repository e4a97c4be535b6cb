"""`torch._custom_op` and `torch._custom_ops`: operators of programs before `torch.library.custom_op`."""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

pytestmark = pytest.mark.filterwarnings("ignore:torch._custom_op is deprecated:DeprecationWarning")
_numbers = itertools.count()


class _Side:
    """One library, with operators in a namespace of its own."""

    def __init__(self, lib: Any, namespace: str) -> None:
        self.lib, self.namespace = lib, namespace
        self.ops = importlib.import_module(f"{lib.__name__}._custom_ops")
        self.impl = importlib.import_module(f"{lib.__name__}._custom_op.impl")

    def declare(self, name: str, schema: str, function: Callable[..., Any] | None = None) -> Any:
        self.ops.custom_op(f"{self.namespace}::{name}", schema)
        made = self.impl.global_registry[f"{self.namespace}::{name}"]
        if function is not None:
            made.impl("cpu")(function)
        return made

    def of_function(self, schema: str, function: Callable[..., Any]) -> Any:
        function.__name__ = "foo"
        return self.impl.custom_op(f"{self.namespace}::foo", schema)(function)

    def leaf(self) -> Any:
        return self.lib.ones(2, requires_grad=True)


def _with_formula(side: _Side, schema: str, gradients: Callable[[Any, Any], Any]) -> Any:
    many = "[]" in schema
    made = side.declare("foo", schema, lambda x, y: (x[0] if many else x) * y)
    made.impl_save_for_backward()(lambda inputs, output: inputs.y)
    made.impl_backward()(lambda ctx, saved, grad: gradients(saved, grad))
    leaves = [side.leaf(), side.leaf()]
    made(leaves if many else leaves[0], 4).sum().backward()
    return [None if one.grad is None else one.grad.tolist() for one in leaves]


ONE, MANY = "(Tensor x, int y) -> Tensor", "(Tensor[] x, int y) -> Tensor"
CASES: dict[str, Callable[[_Side], Any]] = {
    "formula": lambda s: _with_formula(s, ONE, lambda saved, grad: {"x": grad * saved}),
    "no gradient": lambda s: _with_formula(s, ONE, lambda saved, grad: {"x": None}),
    "formula of a list": lambda s: _with_formula(s, MANY, lambda saved, grad: {"x": [grad * saved, None]}),
    "no dict": lambda s: _with_formula(s, ONE, lambda saved, grad: [grad]),
    "other keys": lambda s: _with_formula(s, ONE, lambda saved, grad: {"y": grad}),
    "no tensor": lambda s: _with_formula(s, ONE, lambda saved, grad: {"x": 1}),
    "no list": lambda s: _with_formula(s, MANY, lambda saved, grad: {"x": grad}),
    "a short list": lambda s: _with_formula(s, MANY, lambda saved, grad: {"x": [grad]}),
    "a list of numbers": lambda s: _with_formula(s, MANY, lambda saved, grad: {"x": [1, 2]}),
    "nothing registered": lambda s: s.declare("foo", ONE)(s.lib.ones(2), 2),
    "no tensors": lambda s: s.declare("foo", MANY, lambda x, y: x)([], 2),
    "without formula": lambda s: s.declare("foo", ONE, lambda x, y: x * y)(s.leaf(), 2),
    "no gradient asked for": lambda s: s.declare("foo", ONE, lambda x, y: x * y)(s.lib.ones(2), 2).tolist(),
    "half a formula": lambda s: (
        (made := s.declare("foo", ONE, lambda x, y: x * y)).impl_backward()(id) or made(s.leaf(), 2)
    ),
    "twice": lambda s: s.declare("foo", ONE, lambda x, y: x).impl("cpu")(id),
    "another device": lambda s: s.declare("foo", ONE).impl("npu"),
    "differentiable": lambda s: s.declare("foo", ONE).impl_backward([True, False]),
    "differentiable, no list": lambda s: s.declare("foo", ONE).impl_backward(True),
    "writes": lambda s: s.declare("foo", "(Tensor(a!) x) -> Tensor(a)"),
    "views": lambda s: s.declare("foo", "(Tensor(a) x) -> Tensor(a)"),
    "returns nothing": lambda s: s.declare("foo", "(Tensor x) -> ()"),
    "self": lambda s: s.declare("foo", "(Tensor self) -> Tensor"),
    "an overload": lambda s: s.declare("foo.bar", ONE),
    "a namespace of torch": lambda s: s.ops.custom_op("aten::foo", ONE),
    "no namespace": lambda s: s.ops.custom_op("foo", ONE),
    "a function": lambda s: repr(s.of_function("(Tensor x, *, Tensor y) -> Tensor", lambda x, *, y: x)),
    "other parameters": lambda s: s.of_function("(Tensor y) -> Tensor", lambda x: x),
    "any parameters": lambda s: s.of_function("(Tensor x) -> Tensor", lambda *x: x),
    "defaults": lambda s: s.of_function("(Tensor x) -> Tensor", lambda x=1: x),
    "private": lambda s: s.impl.CustomOp(None, "a", None, "b", None),
    "formula of a function": lambda s: s.of_function("(Tensor x) -> Tensor", lambda x: x).impl_backward()(id),
    "taken back": lambda s: s.declare("foo", ONE)._destroy() or s.impl.get_op(f"{s.namespace}::foo"),
    "unknown": lambda s: s.ops._destroy(f"{s.namespace}::foo"),
}


@pytest.mark.parametrize("name", CASES)
def test_operators_do_and_refuse_what_torchs_do(name: str) -> None:
    namespace = f"old_custom_ops_{next(_numbers)}"
    found = []
    for lib in (mt, torch):
        side = _Side(lib, namespace)
        try:
            found.append(CASES[name](side))
        except (RuntimeError, ValueError) as error:
            found.append((type(error), re.sub(r"at /\S+", "at PLACE", str(error))))
        finally:
            for known in [one for one in side.impl.global_registry if one.startswith(namespace)]:
                side.impl.global_registry[known]._destroy()
    assert found[0] == found[1]


def test_older_functions_register_formulas() -> None:
    side = _Side(mt, "old_custom_ops_functions")
    name = f"{side.namespace}::foo"

    @side.ops.custom_op(name)
    def foo(x: mt.Tensor, y: int) -> mt.Tensor:
        raise NotImplementedError

    side.ops.impl(name, device_types="cpu", func=lambda x, y: x * y)
    side.ops.impl_abstract(name, func=lambda x, y: mt.empty_like(x))
    side.ops.impl_save_for_backward(name, func=lambda inputs, output: inputs.y)
    side.ops.impl_backward(name, func=lambda ctx, saved, grad: {"x": grad * saved})
    x = side.leaf()
    result = mt.ops.old_custom_ops_functions.foo(x, 3)
    result.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert result.grad_fn.name() == "foo_customopBackward"
    assert mt.ops.old_custom_ops_functions.foo(mt.ones(2, device="meta"), 3).shape == (2,)
    side.ops._destroy(name)
    assert not hasattr(mt.ops.old_custom_ops_functions, "foo")
