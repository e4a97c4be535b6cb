"""Tensors that carry a mask do, and refuse, what torch's do."""

from __future__ import annotations

import re
import warnings

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors:UserWarning")

EXPRESSIONS = """
x
x.sum()
x.sum(1)
x.sum(dim=1, keepdim=True)
torch.mean(x, 1)
x.mean()
x.var()
x.std(1)
x.norm()
x.norm(2, 1)
x.argmax(1)
x.all()
x.prod(1)
x.amin(0)
x + 1
1 + x
x * x
x + other
x.add(x, alpha=2)
x < 3
x < x
x == 3
x.pow(2)
x.clamp(1, 2)
torch.ops.aten.clamp(x, min=1)
torch.ops.aten.pow(x, torch.ones(()))
x.exp_()
x.detach().square_()
x.detach().add_(1)
x.detach().add_(other)
x.t()
x[0]
x[0, 0].item()
x[1, 0].item()
x.view(6)
x.reshape(3, 2)
x.expand(2, 2, 3)
x.unsqueeze(0)
x.split(1)
torch.cat([x, x])
torch.stack([x, x])
x.softmax(-1)
torch.where(mask, x, other)
x.to(torch.float64)
x.to(torch.float64).dtype
x.clone()
x.contiguous()
x.t().contiguous().is_contiguous()
x.stride()
x.is_contiguous()
torch.ones_like(x)
x.to_tensor(7)
x.get_data()
x.get_mask()
x.to_sparse().sum()
x.to_sparse().to_dense()
x.to_sparse().layout
x.to_sparse().is_sparse
x.to_sparse().argmax()
x.to_sparse() + x.to_sparse()
x.to_sparse() + other.to_sparse()
x.to_sparse().sqrt()
x.to_sparse_csr().sqrt()
x.to_sparse_csr().mean()
x.to_sparse_csr().layout
x.to_sparse().is_contiguous()
x.to_sparse().contiguous()
x.view(6).to_sparse_csr()
torch.masked.is_masked_tensor(x)
torch.masked.sum(x, 1)
torch.masked.mean(x)
torch.masked.mean(x, 1, mask=mask)
torch.masked.softmax(x, 1)
torch.masked.masked_tensor(data, mask.int())
torch.masked.masked_tensor(data.bfloat16(), mask)
torch.masked.masked_tensor(data, mask[None])
torch.masked.masked_tensor(data, mask[:, :2])
torch.masked.masked_tensor(data, mask.to_sparse())
torch.masked.masked_tensor(data, x)
torch.masked.masked_tensor(x, mask)
torch.masked.masked_tensor(torch.tensor([True, False]), torch.tensor([True, False]))
torch.masked.masked_tensor(torch.tensor(3), torch.tensor(False))
torch.masked.masked_tensor(torch.tensor(3.0), torch.tensor(True))
torch.masked.masked_tensor(torch.arange(12).view(2, 2, 3), torch.arange(12).view(2, 2, 3) % 2 == 0)
torch.masked.as_masked_tensor(data.clone().requires_grad_(), mask).grad_fn.name()
x.sum().grad_fn.name()
x.get_data().grad_fn.name()
torch.masked.masked_tensor(mask, mask)._is_any_true()
x.detach()._is_any_true()
x.max()
x.relu()
x.matmul(x.t())
torch.zeros_like(x)
[gradient(x, one) for one in (x.sum(), x.mean(1).sum(), (x * x).sum(), x.amax(), x.prod())]
[gradient(x, one.sum()) for one in (x.unfold(1, 2, 1), x[0], torch.stack([x, x]))]
gradient(x, x.to_sparse().to_dense().sum())
gradient(x, x.to_sparse_csr().to_dense().sum())
gradient(x, torch.where(mask, x, other * 2).sum())
gradient(x, torch.where(mask, x, x.exp()).sum())
(torch.masked.MaskedTensor.__module__, torch.masked.as_masked_tensor.__module__)
""".strip().split("\n")


def _outcome(lib: object, expression: str) -> tuple[str, str]:
    data = lib.arange(6.0).reshape(2, 3)
    mask = lib.tensor([[True, False, True], [False, True, False]])
    known = {
        "torch": lib,
        "data": data,
        "mask": mask,
        "x": lib.masked.masked_tensor(data, mask, requires_grad=True),
        "other": lib.masked.masked_tensor(data + 1, ~mask, requires_grad=True),
        "gradient": lambda x, y: lib.autograd.grad(y, x)[0],
    }
    try:
        made = repr(eval(expression, known))
    except (RuntimeError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return "made", re.sub(r"\s+", " ", made)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_expressions_give_what_torch_gives(expression: str) -> None:
    assert _outcome(mt, expression) == _outcome(torch, expression)


@pytest.mark.parametrize("expression", ["x", "x.max()", "torch.masked.masked_tensor(x.get_data(), mask)"])
def test_warnings_are_torchs(expression: str) -> None:
    said = []
    for lib in (mt, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _outcome(lib, expression)
        said.append([(one.category, str(one.message)) for one in caught])
    assert said[0] == said[1]


def test_a_wrapper_has_a_sparse_layout() -> None:
    def geometry(lib: object, layout: str) -> tuple[object, ...]:
        asked: list[str] = []

        class Wrapper(lib.Tensor):
            @staticmethod
            def __new__(cls: type, size: tuple[int, ...]) -> object:
                kind = getattr(lib, layout)
                return lib.Tensor._make_wrapper_subclass(
                    cls, size, layout=kind, dtype=lib.float64, dispatch_layout=True
                )

            @classmethod
            def __torch_dispatch__(
                cls, func: object, types: object, args: object = (), kwargs: object = None
            ) -> object:
                asked.append(str(func))
                return getattr(lib, layout) if "layout" in str(func) else args[0]

        made = Wrapper((2, 3))
        made.clone()
        return str(made.layout), tuple(made.shape), made.is_sparse, str(made.dtype), asked[0]

    for layout in ("sparse_coo", "sparse_csr", "strided"):
        assert geometry(mt, layout) == geometry(torch, layout)
