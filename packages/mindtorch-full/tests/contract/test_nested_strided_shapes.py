"""Strided nested tensors by shape and by product, beside torch: what expressions print, or the error they end with."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

EXPRESSIONS = """
f"{nt()}", str(nt()), f"{nt()!r}"
nt()[1, :, -1]
nt()[0]
nt()[-1]
nt()[2]
nt()[0, 1]
nt()[1, 0:1]
nt()[0, ...]
nt()[...]
nt()[None]
nt().select(0, 1)
nt().select(2, 1)
nt().select(1, 0)
n4()
nt().reshape(2, -1, 6)
nt().reshape(2, -1, -1)
nt().reshape(3, -1, 6)
nt().reshape(2, -1, 4)
nt().reshape(2, -1)
nt().reshape(-1)
nt().view(2, -1, 2, 3)
nt().view(2, -1, 4)
n4().transpose(1, 2)
torch.matmul(n4().transpose(1, 2), torch.nested.nested_tensor([torch.ones(2,3,4), torch.ones(2,3,5)]))
torch.matmul(nt(), torch.ones(6, 2))
torch.matmul(nt(), nt().transpose(1, 2))
nt() @ nt()
nt() @ torch.ones(2, 6, 1)
torch.bmm(nt(), nt().transpose(1, 2))
torch.bmm(nt(), torch.ones(2, 6, 2))
torch.matmul(torch.ones(2, 6), nt())
F.dropout(nt(), 0.0)
F.softmax(nt(), -1)
nt().unflatten(-1, [2, 3])
n4().flatten(-2)
nt().flatten(1)
nt().squeeze(0)
nt().unsqueeze(1)
nt().unsqueeze(-1)
nt().unsqueeze(0)
nt().unsqueeze(-1).squeeze(-1)
nt().sum(-1)
nt().sum(-1, keepdim=True)
nt().sum(1)
nt().chunk(2, -1)
nt().chunk(2, 0)
nt().eq(3.)
nt() == 3
nt().ge(3.)
nt() > 3
nt().masked_fill(nt().eq(3.), 7.)
F.scaled_dot_product_attention(sq().transpose(1, 2), sq().transpose(1, 2), sq().transpose(1, 2))
F.scaled_dot_product_attention(n4().transpose(1, 2), n4().transpose(1, 2), n4().transpose(1, 2), is_causal=True)
torch.zeros_like(nt())
torch.ones_like(nt())
torch.empty_like(nt()).size(0)
nt().fill_(2.)
nt().copy_(nt() * 2)
nt().narrow(0, 0, 1)
nt() / nt()
-nt()
nt().tolist()
nt().to_padded_tensor(0.).shape
nt().is_pinned()
len(nt())
nt().int()
nt().requires_grad_().sum(-1).requires_grad
nt()._nested_tensor_strides()
torch.cat([nt(), nt()])
nt().bool()
nt().cpu().device
nt().size(2)
nt() @ nt()
torch.bmm(nt(), nt())
torch.bmm(nt(), torch.ones(3,6,2))
torch.matmul(c(), c().transpose(-1,-2))
torch.matmul(nt(), c())
F.scaled_dot_product_attention(c(),c(),c())
F.scaled_dot_product_attention(c(),c(),c(), is_causal=True)
F.scaled_dot_product_attention(c(),c(),c(), attn_mask=torch.ones(3,3))
torch.cat([nt(),torch.ones(1,6)])
torch.cat([nt(),torch.ones(2,2,6)])
nt().narrow(1,0,1)
nt().narrow(0,1,1)
nt().narrow(0,0,3)
nt().select(0,2)
nt().select(3,0)
nt().select(1,2)
nt()[-3]
nt()[0,9]
nt().squeeze(1)
nt().squeeze()
nt().squeeze(-1)
nt().unsqueeze(1).squeeze(1)
nt().unsqueeze(4)
nt().chunk(4,-1)
nt().chunk(5,-1)
nt().reshape((2,-1,6))
nt().reshape(2,-1,-1,-1)
nt().reshape(2,2,6)
nt().reshape(-1,2,6)
nt().view(3,-1,6)
nt().transpose(1,2).view(2,-1,2)
nt().transpose(1,2).reshape(2,6,-1)
nt().sum((-1,), True)
nt().sum((1,2), True)
nt().sum(-1, True, dtype=torch.float64)
nt().eq(nt())
nt().eq(torch.tensor(3.))
nt().masked_fill(torch.tensor(True), 7.)
nt().copy_(torch.ones(2,6))
nt().zero_()
torch.randn_like(nt()).size(0)
nt().unbind()[0].shape
nt().transpose(1,2)._nested_tensor_strides()
nt()._nested_tensor_storage_offsets()
nt().short(), nt().long()
"""


def _scope(library: Any) -> dict[str, Any]:
    nested = library.nested.nested_tensor

    def nt() -> Any:
        return nested([library.arange(12.0).reshape(2, 6), library.arange(18.0).reshape(3, 6)])

    return {
        "torch": library,
        "F": library.nn.functional,
        "nt": nt,
        "n4": lambda: nt().reshape(2, -1, 2, 3),
        "sq": lambda: nested([library.ones(2, 3, 4), library.ones(2, 3, 5)]),
        "c": lambda: nested([library.ones(2, 3, 4), library.ones(2, 5, 4)]),
    }


def _printed(expression: str, library: Any) -> str:
    try:
        return repr(eval(expression, _scope(library)))
    except (RuntimeError, IndexError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
@pytest.mark.parametrize("expression", [line for line in EXPRESSIONS.splitlines() if line])
def test_expression_is_as_in_torch(expression: str) -> None:
    assert _printed(expression, mt) == _printed(expression, torch)


def test_values_are_written_in_place() -> None:
    x = mt.nested.nested_tensor([mt.ones(2), mt.ones(3)])
    assert x.fill_(2.0) is x
    assert [part.tolist() for part in x.unbind()] == [[2.0, 2.0], [2.0, 2.0, 2.0]]


def test_gradients_flow_through_shapes_and_products() -> None:
    """As of each tensor alone."""
    parts = [mt.arange(4.0).reshape(2, 2).requires_grad_(), mt.arange(6.0).reshape(3, 2).requires_grad_()]
    nested = mt.nested.as_nested_tensor(parts)
    mt.matmul(nested, nested.transpose(1, 2)).sum(-1, keepdim=True)[1].sum().backward()
    expected = mt.arange(6.0).reshape(3, 2).requires_grad_()
    (expected @ expected.t()).sum().backward()
    assert parts[1].grad is not None
    assert parts[1].grad.tolist() == expected.grad.tolist()
