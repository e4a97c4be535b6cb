"""As test_found_by_fuzz: writes in place, random numbers without elements, and what returns its operand."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch as mt  # noqa: E402 - both need torch

from .programs import assert_as_in_torch, last  # noqa: E402

LEAVES_BEFORE_ARGUMENTS = """
leaf(1, 2).add_(t.ones(3))
leaf(1, 2).clamp_()
leaf(1, 2).scatter_(5, t.tensor([0]), 1)
leaf(1, 2).fill_(t.ones(3))
leaf(1, 2).addmm_(t.ones(3), t.ones(2))
leaf(1, 2).index_fill_(3, t.tensor([0]), 1)
leaf(1, 2).copy_(t.ones(3))
leaf(1, 2).masked_fill_(t.ones(2), 1)
leaf(1, 2).squeeze_(5)
leaf(1, 2)[:1].add_(t.ones(3))
leaf().random_(3, 2)
leaf().normal_(0, -1)
leaf().bernoulli_(2.)
t.ones(2, dtype=t.complex64, requires_grad=True).trunc_()
t.add(t.ones(2), t.ones(3), out=leaf(1, 2))
leaf(1, 2).detach_().add_(1)
leaf(1, 2).logical_and_(t.ones(3))
with t.no_grad(): r = leaf(1, 2).add_(1); r
"""
WITHOUT_ELEMENTS = """
t.randn(0, dtype=t.int64).dtype
t.randn(1, dtype=t.int64)
t.randn_like(t.empty(0, dtype=t.bool)).dtype
t.normal(0., 1., (0,), dtype=t.int64).dtype
t.normal(0., -1., (0,), dtype=t.int64).dtype
t.bernoulli(t.empty(0, dtype=t.int64)).dtype
t.empty(0, dtype=t.complex64).bernoulli_(.5).dtype
t.empty(0).bernoulli_(t.tensor(2.)).dtype
t.empty(0).bernoulli_(t.ones(2)).dtype
t.empty(0).bernoulli_(t.tensor(1)).dtype
t.empty(0).bernoulli_(2.)
t.empty(0, dtype=t.int64).exponential_().dtype
t.empty(0, dtype=t.int64).exponential_(-1.)
t.empty(0, dtype=t.bool).geometric_(.5).dtype
t.empty(0, dtype=t.int64).log_normal_().dtype
t.empty(0, dtype=t.int64).cauchy_()
t.empty(0, dtype=t.complex64).random_().dtype
t.empty(0, dtype=t.bool).random_(-2**63, None).dtype
t.empty(0, dtype=t.complex64).uniform_(2, 1).dtype
t.empty(0, dtype=t.int64).uniform_(0, 1)
t.empty(0).random_(3, 2)
leaf().random_(0, 5)
a = t.empty(0).normal_(), t.empty(0).random_(), t.empty(0, dtype=t.bool).exponential_(); t.rand(2)
t.zeros(1, dtype=t.float16).random_(0, 2**60)
t.zeros(1, dtype=t.float16).random_(-2**63, None)
"""
AS_IT_IS = """
x = t.ones(2); x.conj_physical() is x
x = t.ones(2, dtype=t.int32); t.conj_physical(x) is x
x = leaf(1, 2); [x.conj_physical() is x, x.conj_physical().grad_fn]
x = t.ones(2, dtype=t.complex64); x.conj_physical() is x
x = t.tensor([1 + 2j]); x.conj_physical()
x = t.ones(2); t.conj_physical(x, out=t.zeros(2)) is x
"""
MASKS = """
t._masked_softmax(t.arange(4.).reshape(2, 2), t.tensor([[True, False], [False, False]]))
t._masked_softmax(t.arange(4.).reshape(2, 2), t.tensor([[True, False], [False, False]]), 0)
t._masked_softmax(t.arange(4.).reshape(2, 2), t.tensor([True, False]))
t._masked_softmax(t.arange(16.).reshape(2, 2, 2, 2), t.zeros(2, 2).bool(), 3)
t._masked_softmax(t.arange(16.).reshape(2, 2, 2, 2), t.zeros(2, 2, 2, 2).bool(), 3)
t._masked_softmax(t.arange(16.).reshape(2, 2, 2, 2), t.zeros(2).bool(), 3, 0)
t._masked_softmax(t.arange(16.).reshape(2, 2, 2, 2), t.tensor([[True, False], [False, False]]), 3, 0)
t._masked_softmax(t.arange(16.).reshape(2, 2, 2, 2), t.tensor([[True, False], [False, False]]), 3, 3)
"""
CHAINS = """
t.linalg.multi_dot([t.rand(a, b) for a, b in [(3, 1), (1, 4), (4, 2)]])
t.linalg.multi_dot([t.rand(a, b) for a, b in [(2, 7), (7, 3), (3, 8), (8, 1), (1, 5), (5, 5)]])
t.linalg.multi_dot([t.rand(3), t.rand(3, 2), t.rand(2)])
t.linalg.multi_dot([t.eye(2)] * 600)
t.linalg.multi_dot([t.ones(2**40, 0), t.ones(0, 2**40), t.ones(2**40, 0)]).shape
"""
VALUES = """
F.margin_ranking_loss(t.tensor([1, 2]), t.tensor([3, 4]), t.tensor([1, -1]))
F.margin_ranking_loss(t.tensor([1, 2]), t.tensor([3, 4]), t.tensor([1, -1]), 1, reduction='none')
F.hardtanh(t.tensor(3, dtype=t.uint8))
F.hardtanh_(t.tensor(3, dtype=t.uint8), -1, 1)
t.ops.aten.hardtanh(t.tensor(3, dtype=t.uint8))
F.hardtanh(t.tensor([3, 1], dtype=t.uint8), 0, 2)
F.hardtanh(t.tensor([3, -3]), -1, 2)
x = leaf(nan, 1, 0, -1, inf, -inf); (0**x).sum().backward(); x.grad
x = leaf(nan, -1); t.pow(0., x).sum().backward(); x.grad
leaf(1, 2).histc(3).requires_grad
leaf().histc().requires_grad
t.abs(t.ones(2) * 1j, out=t.zeros(2, dtype=t.complex64))
t.abs(t.ones(2) * 1j, out=t.zeros(2, dtype=t.float64))
t.abs(t.ones(2) * 1j, out=t.zeros(2, dtype=t.complex128))
t.abs(t.ones(2) * 1j, out=t.zeros(2, dtype=t.int64))
t.abs(t.ones(2), out=t.zeros(2, dtype=t.float64))
x = t.ones(2); [x.conj_physical_() is x, x._version]
x = leaf(1, 2) * 2; x.conj_physical_().requires_grad
leaf(1, 2).conj_physical_()
"""
DTYPES = """
t.tensor([3], dtype=t.uint16) - 1j
1j - t.tensor(3, dtype=t.uint32)
t.tensor([3], dtype=t.uint64) * t.tensor(1j, dtype=t.complex128)
t.result_type(t.tensor([3], dtype=t.uint64), 1j)
t.result_type(t.tensor([3], dtype=t.uint64), t.tensor([1j]))
t.tensor([3], dtype=t.uint16) == 1j
t.tensor([3], dtype=t.uint16).add_(1j)
t.tensor([3, 4]) * 1j
t.tensor([True]) + 1j
F.batch_norm(t.ones(2, 4).double(), t.zeros(4), t.ones(4), t.ones(4), t.ones(4))
F.batch_norm(t.ones(2, 4).double(), t.zeros(4), t.ones(4), t.ones(4).double(), t.ones(4).double())
F.batch_norm(t.ones(2, 4).double(), t.zeros(4), t.ones(4), t.ones(4).half(), t.ones(4).half())
F.batch_norm(t.ones(2, 4).half(), t.zeros(4), t.ones(4), t.ones(4), t.ones(4)).dtype
t.linalg.svdvals(t.ones(0, 2), driver='gesvd')
t.linalg.svdvals(t.ones(2, 2), driver='gesvd')
t._choose_qparams_per_tensor(t.ones(0))
t._choose_qparams_per_tensor(t.tensor([inf, 1]))
t._choose_qparams_per_tensor(t.tensor([nan, 1]))
t._choose_qparams_per_tensor(t.tensor([1., 3]))
"""
OVERRIDDEN = """
t.stack(pair(t.ones(2), t.ones(2)))
x = [t.stack((t.ones(2), t.ones(2))) for i in range(3)]; t.cat(pair(t.ones(2), t.ones(2)))
x = [t.ones(2, 2).view((4, 1)) for i in range(3)]; t.ones(2, 2).view(pair(4, 1))
t.add(pair(t.ones(2), t.ones(2)), 1)
t.stack([pair(t.ones(2), t.ones(2))])
"""
ALL = LEAVES_BEFORE_ARGUMENTS, WITHOUT_ELEMENTS, AS_IT_IS, MASKS, CHAINS, VALUES, DTYPES, OVERRIDDEN


@pytest.mark.parametrize("program", "".join(ALL).strip().splitlines())
def test_is_as_in_torch(program: str) -> None:
    assert_as_in_torch(program)


@pytest.mark.parametrize(
    "tensors", ["[]", "[t.ones(2)]", "(t.ones(2), t.ones(2).long())", "[t.ones(2, device='meta')]"]
)
def test_lists_without_a_quantized_tensor_are_not_dequantized(tensors: str) -> None:
    for library in (torch, mt):
        with pytest.raises(NotImplementedError, match=r"aten::dequantize\.tensors"):
            last(f"t.dequantize({tensors})", library)
