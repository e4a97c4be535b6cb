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


def _hybrid(lib: Any) -> Any:
    return lib.sparse_coo_tensor(lib.tensor([[0, 2, 0], [1, 1, 1]]), lib.arange(6.0).view(3, 2), (4, 2, 2))


def _square(lib: Any) -> Any:
    return lib.tensor([[0.0, 2.0], [3.0, 4.0]]).to_sparse()


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
    "new of sparse": lambda lib, s: (s.new(), s.new(2, 3), s.new(lib.Size([2, 3])), s.new(*_entries(lib))),
    "new of a list": lambda lib, s: s.new([6]),
    "new of a tensor": lambda lib, s: s.new(s),
    "new of a storage": lambda lib, s: s.new(s._values().untyped_storage()),
    "too many elements": lambda lib, s: lib.sparse_coo_tensor((100001,) * 4),
    "another name": lambda lib, s: (
        s.absolute(),
        lib.negative(s),
        lib.arctan(s, out=s.clone()),
        s.coalesce().arcsinh_(),
    ),
    "another name of what repeats": lambda lib, s: s.arctan_(),
    "part beyond the end": lambda lib, s: s.narrow_copy(0, 2, 3),
    "part of no dimension": lambda lib, s: s.narrow_copy(-1, 0, 1),
    "part of negative length": lambda lib, s: s.narrow_copy(0, 0, -1),
    "reshape": lambda lib, s: s.reshape(8),
    "no sparse dimension": lambda lib, s: (lambda one: (one * one).to_dense())(
        lib.sparse_coo_tensor(lib.zeros(0, 1, dtype=lib.int64), lib.ones(1, 4), (4,))
    ),
    "dense zeros in an order": lambda lib, s: (
        lambda one: lib.zeros_like(one, layout=lib.strided, memory_format=lib.channels_last).stride()
    )(lib.ones(1, 2, 3, 4).to_sparse()),
    "zeros in an order": lambda lib, s: lib.zeros_like(s, memory_format=lib.preserve_format),
    "dtypes of indices": lambda lib, s: lib.testing.assert_close(
        *(
            lib.sparse_csr_tensor(lib.tensor([0, 1], dtype=one), lib.tensor([0], dtype=one), lib.ones(1), (1, 1))
            for one in (lib.int32, lib.int64)
        )
    ),
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
    "permuted": lambda lib, s: (_hybrid(lib).permute(1, 0, 2), _hybrid(lib).transpose(0, 1)),
    "permuted between sparse and dense": lambda lib, s: _hybrid(lib).permute(2, 1, 0),
    "permuted twice": lambda lib, s: _hybrid(lib).permute(0, 0, 1),
    "permuted too few": lambda lib, s: s.permute(0),
    "transposed between sparse and dense": lambda lib, s: _hybrid(lib).transpose(0, 2),
    "selected": lambda lib, s: (s[0], _hybrid(lib).select(0, 0), _hybrid(lib).select(2, 1), _hybrid(lib)[0, 1, 0]),
    "selected beyond": lambda lib, s: _hybrid(lib).select(0, 7),
    "indices selected": lambda lib, s: (
        _hybrid(lib).index_select(0, lib.tensor([0, 2, 0])),
        _hybrid(lib).index_select(2, lib.tensor([1, 1])),
    ),
    "an index beyond": lambda lib, s: s.index_select(0, lib.tensor([9])),
    "joined": lambda lib, s: (lib.cat([s, s]), lib.cat([s, s], 1), lib.stack([s, s]), lib.stack([s, s], -1)),
    "joined with a dense one": lambda lib, s: lib.cat([s, s.to_dense()]),
    "joined with another size": lambda lib, s: lib.cat([s, lib.sparse_coo_tensor([[0]], lib.ones(1, 3), (4, 3))]),
    "joined with other dimensions": lambda lib, s: lib.cat([s, s.to_dense().to_sparse()]),
    "unsqueezed": lambda lib, s: (s.unsqueeze(0), s.unsqueeze(-1), s.unsqueeze(1)),
    "sums of dimensions": lambda lib, s: (
        s.sum(0),
        s.sum(1),
        s.sum(0, keepdim=True),
        s.sum((0, 1)),
        s.int().sum(1),
        lib.sparse.sum(s, 0),
        lib.sparse.sum(s, 1),
        lib.sparse.sum(s),
        lib.sparse.sum(s, dtype=lib.int64),
    ),
    "a sum of a dimension twice": lambda lib, s: lib.sparse.sum(s, (0, 0)),
    "softmax": lambda lib, s: (
        lib.sparse.softmax(_square(lib), 1),
        lib.sparse.log_softmax(_square(lib), 0),
        lib.sparse.softmax(s, 1),
    ),
    "any": lambda lib, s: (s.any(), lib.sparse_coo_tensor((2, 2)).any()),
    "expanded": lambda lib, s: s.expand(2, 4, 2),
    "a bool less a bool": lambda lib, s: s.bool() - s.bool(),
    "types": lambda lib, s: ((s.int() + s).dtype, (lib.ones(4, 2, dtype=lib.uint8) + s.to(lib.int8)).dtype),
    "into a dense one": lambda lib, s: lib.ones(4, 2).mul_(s),
    "mm of two": lambda lib, s: (_square(lib) @ _square(lib), lib.mm(lib.ones(2, 2), _square(lib))),
    "mm of other types": lambda lib, s: lib.mm(_square(lib), lib.ones(2, 2).double()),
    "mm of two other types": lambda lib, s: lib.mm(_square(lib), _square(lib).double()),
    "mm of sizes": lambda lib, s: lib.mm(_square(lib), lib.ones(3, 2)),
    "mm of a row": lambda lib, s: lib.mm(s, lib.ones(2, 2)),
    "mv": lambda lib, s: (lib.mv(_square(lib), lib.ones(2)), _square(lib) @ lib.ones(2)),
    "mv of a matrix": lambda lib, s: lib.mv(_square(lib), lib.ones(2, 2)),
    "mv of sizes": lambda lib, s: lib.mv(_square(lib), lib.ones(3)),
    "addmm": lambda lib, s: lib.addmm(lib.ones(2), _square(lib), lib.ones(2, 2), beta=2, alpha=3),
    "addmm of sparse ones": lambda lib, s: lib.addmm(_square(lib), _square(lib), _square(lib)),
    "bmm": lambda lib, s: lib.bmm(lib.ones(2, 1, 3).to_sparse(), lib.arange(12.0).view(2, 3, 2)),
    "bmm of matrices": lambda lib, s: lib.bmm(_square(lib), lib.ones(2, 2)),
    "sparse results": lambda lib, s: (
        lib.smm(_square(lib), lib.ones(2, 2)),
        lib.hspmm(_square(lib), lib.ones(2, 2)),
        lib.sspaddmm(_square(lib), _square(lib), lib.ones(2, 2), beta=2, alpha=3),
    ),
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


def _with_flag(lib: Any, entries: int, flag: bool) -> Any:
    indices = lib.tensor([[0, 1, 1], [0, 0, 1], [2, 0, 2]])[:, :entries]
    return lib.sparse_coo_tensor(indices, lib.arange(12.0).view(3, 4)[:entries], (3, 3, 3, 4))._coalesced_(flag)


FLAGGED = {
    "permute": lambda lib, s: (s.permute(0, 2, 1, 3), s.permute(1, 0, 2, 3), s.permute(-4, 1, 2, 3)),
    "transpose": lambda lib, s: (s.transpose(0, 0), s.transpose(1, 2), s.transpose(0, 1), s.clone().transpose_(0, 1)),
    "unsqueeze": lambda lib, s: (s.unsqueeze(0), s.unsqueeze(3), s.unsqueeze(4)),
    "select": lambda lib, s: tuple(s.select(dim, 0) for dim in range(4)),
    "index_select": lambda lib, s: tuple(s.index_select(dim, lib.tensor([0, 1])) for dim in range(4)),
    "narrow_copy": lambda lib, s: tuple(s.narrow_copy(dim, 1, 2) for dim in range(4)),
    "copies": lambda lib, s: (s.clone(), s.detach(), s.neg(), s / 2, s * 2, s + s, s.to(lib.float64)),
    "again": lambda lib, s: lib.sparse_coo_tensor(s._indices(), s._values(), s.shape),
}


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("entries", [0, 1, 3])
@pytest.mark.parametrize("name", FLAGGED)
def test_results_are_coalesced_where_torchs_are(name: str, entries: int, flag: bool) -> None:
    def seen(lib: Any) -> Any:
        made = FLAGGED[name](lib, _with_flag(lib, entries, flag))
        made = made if isinstance(made, tuple) else (made,)
        return [(one.is_coalesced(), one.shape, one._indices().tolist(), one._values().tolist()) for one in made]

    assert seen(mt) == seen(torch)


def test_values_get_the_gradient_of_their_own_entries() -> None:
    def gradient(lib: Any) -> Any:
        values = lib.ones(3, requires_grad=True)
        made = lib.sparse_csr_tensor(lib.tensor([0, 2, 3]), lib.tensor([0, 1, 1]), values, (2, 2))
        other = lib.tensor([[2.0, 0.0], [0.0, 5.0]]).to_sparse_csr()
        made.backward(other)
        return values.grad.tolist()

    assert gradient(mt) == [2.0, 0.0, 5.0]


@pytest.mark.parametrize("dim", [(), None, 0, 1, (0, 1)])
@pytest.mark.parametrize("name", ["amax", "amin", "sum", "prod"])
def test_reductions_of_all_masked_entries_leave_out_a_zero(name: str, dim: Any) -> None:
    def seen(lib: Any, shown: bool) -> Any:
        mask = lib.tensor([[True, False, shown], [False, False, shown]])
        mask = mask if shown else lib.zeros(2, 3, dtype=lib.bool)
        values = lib.tensor([[0, 2, 3], [4, 0, 6]]).to_sparse()
        made = getattr(lib.masked, name)(values, dim=dim, mask=mask.to_sparse())
        return made.is_coalesced(), made.shape, made._indices().tolist(), made._values().tolist()

    assert [seen(mt, shown) for shown in (True, False)] == [seen(torch, shown) for shown in (True, False)]


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
    with pytest.raises(NotImplementedError, match="gradients do not flow through this op on sparse tensors"):
        mt.ones(4, 2, requires_grad=True).clone().add_(_sample(mt))
    with pytest.raises(NotImplementedError, match="gradients do not flow through this op on sparse tensors"):
        mt.sparse.softmax(_square(mt).requires_grad_(), 0)


RECORDED = {
    "mm": lambda lib, a, b: lib.mm(a, b),
    "sparse.mm": lambda lib, a, b: lib.sparse.mm(a, b),
    "dense first": lambda lib, a, b: lib.mm(b, a),
    "sparse.mm, dense first": lambda lib, a, b: lib.sparse.mm(b, a),
    "mm of two": lambda lib, a, b: lib.mm(a, a),
    "sparse.addmm": lambda lib, a, b: lib.sparse.addmm(b, a, b, beta=2, alpha=3),
    "addmm": lambda lib, a, b: lib.addmm(b, a, b),
    "mv": lambda lib, a, b: a @ lib.ones(2),
    "sparse.sum": lambda lib, a, b: lib.sparse.sum(a),
    "sparse.sum of a dimension": lambda lib, a, b: lib.sparse.sum(a, 0),
    "sparse.sum of all dimensions": lambda lib, a, b: lib.sparse.sum(a, (0, 1)),
    "sum": lambda lib, a, b: a.sum(),
    "sum of a dimension": lambda lib, a, b: a.sum(0),
    "square": lambda lib, a, b: a * a,
    "product": lambda lib, a, b: a * b,
    "double": lambda lib, a, b: a + a,
    "dense and sparse": lambda lib, a, b: b + a,
    "difference": lambda lib, a, b: a - a * 2,
    "t": lambda lib, a, b: a.t(),
    "permute": lambda lib, a, b: a.permute(1, 0),
    "clone": lambda lib, a, b: a.clone(),
    "abs": lambda lib, a, b: a.abs(),
    "quotient": lambda lib, a, b: a / 2,
    "pow": lambda lib, a, b: a.pow(2),
    "select": lambda lib, a, b: a[0],
    "cat": lambda lib, a, b: lib.cat([a, a]),
    "stack": lambda lib, a, b: lib.stack([a, a]),
    "unsqueeze": lambda lib, a, b: a.unsqueeze(0),
    "values": lambda lib, a, b: a.coalesce().values(),
    "made of values": lambda lib, a, b: lib.sparse_coo_tensor(lib.tensor([[1, 0, 1]]), b.view(4)[:3], (2,)),
    "made of values and summed": lambda lib, a, b: lib.sparse_coo_tensor(
        lib.tensor([[1, 0, 1]]), b.view(4)[:3], (2,)
    ).coalesce().values(),
    "masked": lambda lib, a, b: b.sparse_mask(_square(lib)).to_dense(),
    "dense": lambda lib, a, b: a.to_dense(),
    "dense, every gradient": lambda lib, a, b: a.to_dense(masked_grad=False),
}  # fmt: skip


def _recorded(name: str, lib: Any) -> Any:
    a, b = _square(lib).requires_grad_(), lib.arange(4.0).view(2, 2).requires_grad_()
    result = RECORDED[name](lib, a, b)
    gradient = lib.arange(1.0, result.numel() + 1).view(result.shape)
    try:
        result.backward(gradient)
    except RuntimeError as error:
        return repr(result), str(error)
    return repr(result), repr(a.grad), repr(b.grad)


@pytest.mark.parametrize("name", RECORDED)
def test_gradients_of_sparse_operands_are_as_in_torch(name: str) -> None:
    assert _recorded(name, mt) == _recorded(name, torch)


def _bags(lib: Any, mode: str) -> list[str]:
    table = lib.nn.EmbeddingBag(5, 2, mode=mode, sparse=True, padding_idx=1)
    with lib.no_grad():
        table.weight.copy_(lib.arange(10.0).view(5, 2))
    weights = lib.tensor([1.0, 2, 3, 4]) if mode == "sum" else None
    table(lib.tensor([0, 2, 1, 4]), lib.tensor([0, 3]), per_sample_weights=weights).pow(2).sum().backward()
    return [repr(table.weight.grad), repr(table.weight.grad.to_dense())]


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_a_bag_of_embeddings_has_sparse_gradients(mode: str) -> None:
    assert _bags(mt, mode) == _bags(torch, mode)


@pytest.mark.parametrize("fast_mode", [True, False])
def test_gradcheck_of_sparse_inputs_is_as_in_torch(fast_mode: bool) -> None:
    def checks(lib: Any) -> list[Any]:
        a = lib.rand(2, 3, dtype=lib.float64).to_sparse().requires_grad_()
        b = lib.rand(3, 2, dtype=lib.float64, requires_grad=True)
        check, options = lib.autograd.gradcheck, {"fast_mode": fast_mode, "check_batched_grad": False}
        found = [check(lib.sparse.mm, (a, b), masked=True, **options)]
        found.append(check(lambda one: one.to_dense(masked_grad=False), (a,), masked=False, **options))
        try:
            check(lambda one: one * 2, (a,), masked=True, **options)
        except ValueError as error:
            found.append(str(error))
        return found

    assert checks(mt) == checks(torch)


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
