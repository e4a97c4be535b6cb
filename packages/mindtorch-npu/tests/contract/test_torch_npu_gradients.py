"""Gradients that torch_npu has as operators, beside those of autograd."""

from __future__ import annotations

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch import _torch_npu as torch_npu  # noqa: E402

from ..tensors import draw, near  # noqa: E402

F = mindtorch.nn.functional


X, G = draw(2, 4, 6), draw(2, 4, 3, seed=1)


def own_gradient(function, given, cotangent):
    leaf = given.clone().requires_grad_()
    return mindtorch.autograd.grad(function(leaf), leaf, cotangent)[0]


GRADIENTS = {
    "npu_geglu_grad": (
        (G, X, G),
        lambda: own_gradient(lambda x: x[..., :3] * F.gelu(x[..., 3:], approximate="tanh"), X, G),
    ),
    "npu_layernorm_grad": (
        (X, X, (6,), X.mean(-1, keepdim=True), X.var(-1, correction=0, keepdim=True).add(1e-5).rsqrt(), None, None),
        lambda: own_gradient(lambda x: F.layer_norm(x, (6,)), X, X),
    ),
    "repeat_interleave_backward_int": ((X, X[:, :2], 2, 1), lambda: X[:, ::2] + X[:, 1::2]),
    "repeat_interleave_backward_tensor": (
        (X[0, 0], X[0, 0, :3], mindtorch.tensor([1, 2, 3])),
        lambda: mindtorch.stack([X[0, 0, :1].sum(), X[0, 0, 1:3].sum(), X[0, 0, 3:].sum()]),
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(npu, name):
    given, expected = GRADIENTS[name]
    found = getattr(torch_npu, name)(*(one.npu() if isinstance(one, mindtorch.Tensor) else one for one in given))
    assert near(found[0] if isinstance(found, tuple) else found, expected())


def test_gradients_of_group_norms(npu):
    x, weight, bias = (one.npu().requires_grad_() for one in (draw(2, 4, 3), draw(4, seed=1), draw(4, seed=2)))
    cotangent = draw(2, 4, 3, seed=3).npu()
    out, mean, rstd = torch_npu.npu_group_norm_swish(x, 2, weight, bias)
    expected = mindtorch.autograd.grad(out, (x, weight, bias), cotangent)
    given = (one.detach() for one in (x, weight, bias, mean, rstd))
    first, *rest = given
    found = torch_npu.npu_group_norm_swish_grad(cotangent, first, 2, *rest, [True, True, True])
    assert all(near(one, other) for one, other in zip(found, expected, strict=True))


def test_gradients_of_experts(npu):
    tokens, experts = draw(3, 4).npu(), mindtorch.tensor([[1, 0], [0, 2], [2, 1]]).npu()
    moved, places = torch_npu.npu_moe_token_permute(tokens, experts)
    found = torch_npu.npu_moe_token_permute_grad(tokens, mindtorch.ones_like(moved), experts, places)
    assert near(found, mindtorch.full((3, 4), 2.0))
    weights, cotangent = draw(3, 2, seed=1).npu(), draw(3, 4, seed=2).npu()
    to_moved, to_weights = torch_npu.npu_moe_token_unpermute_grad(moved, cotangent, places, weights)
    rows, each = moved[places.long()].reshape(3, 2, 4), cotangent.unsqueeze(1)
    assert near(to_weights, (rows * each).sum(-1))
    assert near(to_moved[places.long()].reshape(3, 2, 4), each * weights.unsqueeze(-1))
