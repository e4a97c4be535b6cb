"""Sparse coordinate tensors do what torch's do, as far as they are offered; what is not says so."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

pytestmark = pytest.mark.filterwarnings("ignore:Sparse invariant checks", "ignore:TypedStorage is deprecated")


def _entries(lib: Any) -> tuple[Any, Any]:
    return lib.tensor([[0, 2, 0]]), lib.arange(6.0).view(3, 2)


def _sample(lib: Any) -> Any:
    return lib.sparse_coo_tensor(*_entries(lib), (4, 2))


CALLS = {
    "sample": lambda lib, s: s,
    "coalesce": lambda lib, s: (s.coalesce(), s.is_coalesced(), s.coalesce().is_coalesced()),
    "parts": lambda lib, s: (s._indices(), s._values(), s._nnz(), s.sparse_dim(), s.dense_dim()),
    "parts of coalesced": lambda lib, s: (s.coalesce().indices(), s.coalesce().values()),
    "indices": lambda lib, s: s.indices(),
    "values": lambda lib, s: s.values(),
    "geometry": lambda lib, s: (s.shape, s.stride(), s.dim(), s.numel(), s.layout, s.is_sparse, s.is_contiguous()),
    "storage": lambda lib, s: s.storage(),
    "untyped storage": lambda lib, s: s.untyped_storage(),
    "data_ptr": lambda lib, s: s.data_ptr(),
    "numpy": lambda lib, s: s.numpy(),
    "item": lambda lib, s: s.item(),
    "tolist": lambda lib, s: s.tolist(),
    "is_nonzero": lambda lib, s: s.is_nonzero(),
    "sin": lambda lib, s: s.sin(),
    "abs": lambda lib, s: s.abs(),
    "pow": lambda lib, s: (s.pow(2), s**2),
    "neg": lambda lib, s: -s,
    "sparse and dense": lambda lib, s: s + lib.ones(4, 2),
    "dense and sparse": lambda lib, s: lib.ones(4, 2) + s,
    "dense less sparse": lambda lib, s: lib.ones(4, 2) - s,
    "alpha": lambda lib, s: lib.ones(4, 2, dtype=lib.float64).add_(s, alpha=2),
    "another size": lambda lib, s: lib.ones(2, 2).add_(s),
    "number": lambda lib, s: s + 1,
    "double": lambda lib, s: s + s,
    "zero": lambda lib, s: (s - s).coalesce(),
    "product": lambda lib, s: (s * 2, s / 2, s * lib.ones(4, 2)),
    "in place": lambda lib, s: (s.mul_(3), s.neg_(), s.zero_()),
    "copy": lambda lib, s: s.copy_(s * 2),
    "copy to dense": lambda lib, s: lib.ones(2).copy_(s),
    "dtypes": lambda lib, s: (s.double(), s.half(), s.to(lib.float64).dtype),
    "clone": lambda lib, s: (s.clone(), s.detach(), lib.zeros_like(s), s.new(*_entries(lib), (4, 2))),
    "to dense": lambda lib, s: s.to_dense(),
    "to sparse": lambda lib, s: (lib.eye(3).to_sparse(), lib.ones(2, 2).to_sparse(1)),
    "mask": lambda lib, s: (lib.ones(4, 2).sparse_mask(s), lib.ones(4, 2).sparse_mask(s.coalesce())),
    "sums": lambda lib, s: (s.norm(), s.sum()),
    "t": lambda lib, s: s.t(),
    "t of a matrix": lambda lib, s: lib.arange(6.0).view(2, 3).to_sparse().t().coalesce(),
    "mm": lambda lib, s: (lib.eye(3).to_sparse() @ lib.ones(3, 2), lib.mm(lib.eye(3).to_sparse(), lib.ones(3, 2))),
    "mm of a hybrid": lambda lib, s: s @ lib.ones(2, 3),
    "of lists": lambda lib, s: lib.sparse_coo_tensor([[0, 1]], [1, 2]),
    "of a size": lambda lib, s: (lib.sparse_coo_tensor((2, 3)), lib.zeros(3, layout=lib.sparse_coo)),
    "counts differ": lambda lib, s: lib.sparse_coo_tensor([[0, 1]], [1.0, 2, 3]),
    "flat indices": lambda lib, s: lib.sparse_coo_tensor([0.5], [1.0]),
    "below": lambda lib, s: lib.sparse_coo_tensor([[0, -1]], [1.0, 2], (3,), check_invariants=True),
    "above": lambda lib, s: lib.sparse_coo_tensor([[0, 5]], [1.0, 2], (3,), check_invariants=True),
    "requires grad": lambda lib, s: lib.sparse_coo_tensor([[0, 1]], [1.0, 2], requires_grad=True),
    "coalesce a dense one": lambda lib, s: lib.ones(2).coalesce(),
    "indices of a dense one": lambda lib, s: lib.ones(2).indices(),
    "a dense one": lambda lib, s: (lib.ones(2).sparse_dim(), lib.ones(2).dense_dim(), lib.ones(2).to_dense()),
    "new": lambda lib, s: (lib.ones(2).new(), lib.ones(2).new(2, 3).shape, lib.tensor([1]).new([1.5])),
    "new of a string": lambda lib, s: lib.ones(2).new("a"),
    "new of another dtype": lambda lib, s: lib.ones(2).new(lib.tensor([1])),
}


def _outcome(name: str, lib: Any) -> Any:
    try:
        return repr(CALLS[name](lib, _sample(lib)))
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
        return type(error).__name__, str(error)


@pytest.mark.parametrize("name", CALLS)
def test_sparse_tensors_are_as_in_torch(name: str) -> None:
    assert _outcome(name, mt) == _outcome(name, torch)


@pytest.mark.parametrize(("name", "arguments"), [("cosh", ()), ("exp", ()), ("view", (8,)), ("eq", (0,))])
def test_an_op_that_sparse_tensors_lack_raises(name: str, arguments: Any) -> None:
    for lib in (mt, torch):
        with pytest.raises(NotImplementedError, match=f"Could not run 'aten::{name}.* from the 'SparseCPU' backend"):
            getattr(_sample(lib), name)(*arguments)


def _trained(lib: Any, make: Any) -> list[Any]:
    table = lib.nn.Embedding(5, 3, sparse=True, padding_idx=1)
    with lib.no_grad():
        table.weight.copy_(lib.arange(15.0).view(5, 3))
    optimizer, seen = make(lib.optim, table.parameters()), []
    for _ in range(3):
        optimizer.zero_grad()
        (table(lib.tensor([[0, 2], [2, 1]])) ** 2).sum().backward()
        table(lib.tensor([0, 4])).sum().backward()
        gradient = table.weight.grad.coalesce()
        seen.append((gradient.indices().tolist(), gradient.to_dense().flatten().tolist()))
        optimizer.step()
    return [*seen, ([], table.weight.flatten().tolist())]


@pytest.mark.parametrize(
    "make",
    [
        lambda optim, p: optim.SparseAdam(p, lr=0.1),
        lambda optim, p: optim.SGD(p, lr=0.1, momentum=0.9),
        lambda optim, p: optim.Adagrad(p, lr=0.1),
    ],
)
def test_optimizers_take_the_sparse_gradients_of_an_embedding(make: Any) -> None:
    for (indices, values), (expected_indices, expected) in zip(_trained(mt, make), _trained(torch, make), strict=True):
        assert indices == expected_indices
        assert values == pytest.approx(expected, abs=1e-5)


def _mixed(lib: Any) -> list[str]:
    table = lib.nn.Embedding(3, 2, sparse=True)
    with lib.no_grad():
        table.weight.fill_(1.0)
    table(lib.tensor([0, 2])).sum().backward()
    table.weight.sum().backward()
    first = repr(table.weight.grad)
    table(lib.tensor([1])).sum().backward()
    matrix = lib.eye(3).requires_grad_()
    matrix.to_sparse().to_dense().sum().backward()
    return [first, repr(table.weight.grad), repr(matrix.grad), matrix.to_sparse(1).grad_fn.name()]


def test_sparse_and_dense_gradients_add_up() -> None:
    assert _mixed(mt) == _mixed(torch)


def test_a_gradient_that_cannot_flow_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="gradients do not flow through sparse tensors"):
        mt.ones(4, 2, requires_grad=True) + _sample(mt)
    with pytest.raises(NotImplementedError, match="gradients do not flow through sparse tensors"):
        mt.sparse_coo_tensor([[0]], mt.ones(1, requires_grad=True), (2,))


def _products(lib: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    given = [one(lib) if callable(one) else one for one in args]
    try:
        result = getattr(lib.ops.aten, name)(*given, **kwargs)
    except RuntimeError as error:
        return str(error)
    return result.is_sparse, result.to_dense().tolist()


def _matrix(lib: Any) -> Any:
    return lib.tensor([[0.0, 2.0, 0.0], [3.0, 0.0, 4.0]]).to_sparse()


def _dense(rows: int) -> Any:
    return lambda lib: lib.arange(2.0 * rows).view(rows, 2)


PRODUCTS = {
    "added": ("_sparse_addmm", (_dense(2), _matrix, _dense(3)), {"beta": 2, "alpha": 3}),
    "a row is added": ("_sparse_addmm", (lambda lib: lib.ones(2), _matrix, _dense(3)), {}),
    "nothing is added": (
        "_sparse_addmm",
        (lambda lib: lib.full((2, 2), float("nan")), _matrix, _dense(3)),
        {"beta": 0},
    ),
    "sizes differ": ("_sparse_addmm", (_dense(3), _matrix, _dense(3)), {}),
    "sparse and dense": ("_sparse_mm", (_matrix, _dense(3)), {}),
    "sparse and sparse": ("_sparse_mm", (_matrix, lambda lib: _matrix(lib).t()), {}),
    "dense and sparse": ("_sparse_mm", (lambda lib: lib.ones(2, 2), _matrix), {}),
}


@pytest.mark.parametrize("case", PRODUCTS)
def test_products_of_sparse_matrices(case: str) -> None:
    name, args, kwargs = PRODUCTS[case]
    assert _products(mt, name, *args, **kwargs) == _products(torch, name, *args, **kwargs)
