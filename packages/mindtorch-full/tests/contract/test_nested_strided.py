"""Nested tensors of the strided layout: sizes, numbers and errors; beside torch."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import mindtorch

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")

CASES = (
    "a", "a.layout", "a.is_nested", "a.dim()", "a.ndim", "a.dtype", "a.numel()", "a.requires_grad", "a.is_contiguous()",
    "a.shape", "a.size()", "a.size(0)", "a.size(1)", "a.size(-1)", "a.size(3)", "a.stride()", "a._nested_tensor_size()",
    "a.to_padded_tensor(0.0)", "a.to_padded_tensor(1.0, (2, 5, 4))", "a.to_padded_tensor(0.0, (2, 1, 4))",
    "T.nested.to_padded_tensor(a, 2.0)", "a.to(T.float64)", "a.unbind()", "a.unbind(1)", "a[1]", "a.clone()", "a.relu()",
    "a.values()", "a.transpose(1, 2)", "a.transpose(0, 1)", "a + 1", "a * 2", "a + a", "a - a", "a.mul(a)", "a.softmax(-1)",
    "a.softmax(0)", "a + b", "a + T.ones(2)", "a.sub(1)", "T.nn.functional.linear(a, T.ones(2, 4), T.ones(2))",
    "T.nn.functional.layer_norm(a, [4], T.ones(4), T.zeros(4))",
    "T.nn.functional.layer_norm(a, [4])", "T.nn.functional.gelu(a)", "a.is_same_size(a)", "a.is_same_size(b)",
    "a.is_same_size(T.ones(2))", "T.ones(2).is_same_size(a)", "T.is_same_size(a, b)",
    "T.nested.nested_tensor([])", "T.nested.nested_tensor([]).to_padded_tensor(0.0)",
    "T.nested.nested_tensor([[1.0, 2.0], [3.0]])",
    "T.nested.nested_tensor([T.ones(2), T.ones(2, 2)])", "T.nested.nested_tensor([T.ones(2), T.ones(3)], dtype=T.float64)",
    "T.nested.nested_tensor([T.ones(2)], layout=T.sparse_csr)", "T.nested.as_nested_tensor([T.ones(2), T.zeros(1)])",
    "T._nested_tensor_from_mask(T.ones(2, 3, 4), T.tensor([[True, True, False], [True, False, False]]))",
    "T._nested_tensor_from_mask(T.ones(2, 3, 4), T.tensor([[True, False, True], [True, False, False]]))",
    "T._nested_tensor_from_mask(T.ones(2, 3, 4), T.ones(2, 3))", "T._nested_tensor_from_mask(T.ones(2, 3), T.ones(2, 3).bool())",
    "T._nested_tensor_from_mask(T.ones(2, 3, 4), T.ones(2, 3, 4).bool())",
    "T._nested_tensor_from_mask(T.ones(2, 3, 4), T.ones(3, 3).bool())",
    "T._nested_tensor_from_mask_left_aligned(T.ones(2, 3, 4), T.tensor([[True, False, True], [True, False, False]]))",
    "T._native_multi_head_attention(a, a, a, 4, 2, *w)", "T._native_multi_head_attention(a, a, a, 4, 2, *w, need_weights=False)",
    "T._native_multi_head_attention(a, a, a, 4, 2, *w, average_attn_weights=False)[1].shape",
    "T._native_multi_head_attention(a, a, a, 4, 2, *w, T.ones(2, 3).bool(), mask_type=1)",
)  # fmt: skip


def _names(module: Any) -> dict[str, Any]:
    parts = [module.arange(8.0).reshape(2, 4) / 8, module.ones(3, 4)]
    weights = [module.ones(12, 4) / 4, module.ones(12), module.ones(4, 4), module.ones(4)]
    made = module.nested.nested_tensor
    return {"T": module, "a": made(parts), "b": made(parts[:1]), "w": weights}


@pytest.mark.parametrize("text", CASES)
def test_as_in_torch(text: str) -> None:
    """What a program sees is the same, errors included."""
    code = compile(text, "case", "eval")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(lambda: eval(code, _names(mindtorch)), lambda: eval(code, _names(torch)))


def test_gradients_flow_to_the_tensors() -> None:
    """A nested gradient reaches the tensors that a nested one was made of."""
    one, other = (mindtorch.ones(size, 4, requires_grad=True) for size in (2, 3))
    nested = mindtorch.nested.as_nested_tensor([one, other])
    assert nested.requires_grad
    (nested * 3).backward(mindtorch.nested.nested_tensor([mindtorch.ones(2, 4), mindtorch.zeros(3, 4)]))
    assert one.grad is not None
    assert one.grad.sum().item() == 24.0
    assert other.grad is not None
    assert other.grad.sum().item() == 0.0


def test_what_is_not_offered_says_so() -> None:
    """Operators without a kernel name themselves."""
    nested = mindtorch.nested.nested_tensor([mindtorch.ones(2), mindtorch.ones(3)])
    with pytest.raises(
        NotImplementedError, match="Could not run 'aten::exp' with arguments from the 'NestedTensorCPU'"
    ):
        nested.exp()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_values_share_the_memory_of_the_tensor() -> None:
    def program(lib: Any) -> Any:
        x = lib.arange(6.0).view(3, 2)
        nested = lib.nested.as_nested_tensor([x[:1], x[1:]])
        same = nested.contiguous() is nested
        nested.contiguous().values().view(-1, 2).add_(1)
        leaf = lib.nested.nested_tensor([x[:1], x[1:]], requires_grad=True)
        made = lib.nested.as_nested_tensor([x[:1].clone().requires_grad_(), x[1:]])
        return same, nested.to_padded_tensor(0.0), x, leaf.is_leaf, made.is_leaf, nested.is_leaf

    assert_same(program(mindtorch), program(torch))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gradients_flow_through_values() -> None:
    def program(lib: Any) -> Any:
        parts = [lib.arange(2.0, requires_grad=True), lib.arange(3.0, requires_grad=True)]
        values = lib.nested.as_nested_tensor(parts).to_padded_tensor(0.0)
        (values * values).sum().backward()
        return [one.grad for one in parts]

    assert_same(program(mindtorch), program(torch))
    parts = [mindtorch.arange(2.0, requires_grad=True), mindtorch.arange(3.0, requires_grad=True)]
    values = mindtorch.nested.as_nested_tensor(parts).values()
    (values * values).sum().backward()
    assert [one.grad.tolist() for one in parts] == [[0, 2], [0, 2, 4]]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_leaves_have_gradients() -> None:
    def program(lib: Any) -> Any:
        leaf = lib.nested.nested_tensor([lib.arange(2.0), lib.arange(3.0)], requires_grad=True)
        before = leaf.grad
        (leaf * leaf).to_padded_tensor(0.0).sum().backward()
        first = [one.clone() for one in leaf.grad.unbind()]
        leaf.grad = None
        return before, first, leaf.grad

    assert_same(program(mindtorch), program(torch))
