"""Results that a node saved keep what a wrapper in Python put on them, also when they are differentiated again."""

from __future__ import annotations

from typing import Any

import mindtorch as torch


class Wrapper(torch.Tensor):
    """A tensor around another one, which carries it as an attribute."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Any:
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        def opened(value: Any) -> Any:
            return value.inner if isinstance(value, cls) else value

        result = func(*torch.utils._pytree.tree_map(opened, args), **torch.utils._pytree.tree_map(opened, kwargs or {}))
        return torch.utils._pytree.tree_map(lambda one: cls(one) if isinstance(one, torch.Tensor) else one, result)


def test_gradients_of_gradients_go_through_a_saved_result() -> None:
    x = Wrapper(torch.tensor([0.5, 2.0], dtype=torch.float64)).requires_grad_()
    (first,) = torch.autograd.grad(x.exp().sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    assert isinstance(second, Wrapper)
    assert torch.equal(second.inner, torch.tensor([0.5, 2.0], dtype=torch.float64).exp())
