"""Gradients and errors of backward that PyTorch's own tests look at; beside torch."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")


def _of_complex_exponent(module: Any, base: Any) -> Any:
    exponent = module.tensor([1 + 2j, 0.5 - 1j], dtype=module.complex64, requires_grad=True)
    return module.autograd.grad(module.pow(base, exponent).real.sum(), exponent)


@pytest.mark.parametrize("base", ["-1", "2", "0", "-T.ones(2)", "T.tensor([0.0, -2.0])", "T.tensor([1j, 2])"])
def test_a_negative_base_with_a_complex_exponent(base: str) -> None:
    """The logarithm of the base is complex, not NaN."""
    assert_same(
        lambda: _of_complex_exponent(mindtorch, eval(base, {"T": mindtorch})),
        lambda: _of_complex_exponent(torch, eval(base, {"T": torch})),
    )


def _with_hooks_of_unpacking(module: Any) -> Any:
    seen = []

    def unpack(tensor: Any) -> Any:
        def halve(answers: Any, given: Any) -> Any:
            seen.append(given)
            return tuple(None if one is None else one / 2 for one in answers)

        module._C._current_autograd_node().register_hook(halve)
        return tensor

    leaf = module.arange(9.0).reshape(3, 3).requires_grad_()
    with module.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        leaf.var(0).sum().backward()
    return leaf.grad, seen


def test_a_hook_that_unpacking_registers_runs() -> None:
    """It sees the answers of its node; what arrived at the node is gone."""
    assert_same(lambda: _with_hooks_of_unpacking(mindtorch), lambda: _with_hooks_of_unpacking(torch))


def _written_forward(module: Any, in_place: bool) -> Any:
    class Doubled(module.autograd.Function):  # type: ignore[misc]  # the class is an argument
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x.mul_(2))
            return x

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            return tangent.mul_(2) if in_place else tangent

    with module.autograd.forward_ad.dual_level():
        dual = module.autograd.forward_ad.make_dual(module.ones(2), module.ones(2))
        return tuple(module.autograd.forward_ad.unpack_dual(Doubled.apply(dual)))


@pytest.mark.parametrize("in_place", [True, False])
def test_the_tangent_of_what_is_written_must_be_written(in_place: bool) -> None:
    """A `jvp` that gives the tangent back as it was is refused: the value was doubled, the tangent was not."""
    assert_same(lambda: _written_forward(mindtorch, in_place), lambda: _written_forward(torch, in_place))
