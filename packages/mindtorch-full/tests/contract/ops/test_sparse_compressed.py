"""Tensors with compressed rows or columns are made, changed, shown and refused as torch's are."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

pytestmark = pytest.mark.filterwarnings("ignore:Sparse ... tensor support is in beta")

_KINDS = ("csr", "csc", "bsr", "bsc")
_MATRIX = [[1.0, 0, 2, 0], [0, 0, 3, 0], [0, 4, 0, 0], [5, 0, 0, 6]]


def _dense(lib: Any) -> Any:
    return lib.tensor(_MATRIX)


def _of(lib: Any, kind: str, dense: Any = None) -> Any:
    dense = _dense(lib) if dense is None else dense
    layout = getattr(lib, f"sparse_{kind}")
    return dense.to_sparse(layout=layout, blocksize=(2, 2) if kind.startswith("b") else None)


def _outcome(call: Any, *args: Any) -> Any:
    try:
        return repr(call(*args))
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
        return type(error).__name__, str(error).partition(". This could be because")[0]


def _compare(call: Any, *args: Any) -> None:
    assert _outcome(call, mt, *args) == _outcome(call, torch, *args)


OF_EACH = """
x; x.values(); x.crow_indices(); x.col_indices(); x.ccol_indices(); x.row_indices(); x.indices(); x.coalesce()
x._nnz(), x.sparse_dim(), x.dense_dim(), x.shape, x.layout, x.is_sparse, x.is_sparse_csr, x.numel(), x.nbytes
x.stride(); x.is_contiguous(); x.contiguous(); x.data_ptr(); x.untyped_storage(); x.numpy(); x.type(); x.is_pinned()
x.to_dense(); x.to_dense(dtype=lib.float64); x.clone(); x.detach(); x.double(); x.int().abs(); x.t(); x.transpose(0, 1)
x.unsqueeze(0); x.diagonal(); x.squeeze(); x.flatten(); x.cos(); x == x; x / 2; x - x; x.pow(2); x.expand(2, 4, 4)
x * 2; x * x; x + x; x * d; x.sum(); x.sum(dtype=lib.float64); x.sum(0); x.sum(0, keepdim=True); x.sum((0, 1), keepdim=True)
x.abs(); x.neg(); x.sin(); x.sqrt(); x.relu(); x.sign(); x.isnan(); x.signbit(); x.angle(); x.log1p(); x.neg_(); x.relu_()
x.zero_(); x.fill_(3); x.mul_(2); x.mul_(x); x.add_(x); x.add_(x, alpha=2); x.copy_(x * 2); x.copy_(d); d.clone().copy_(x)
lib.zeros_like(x); lib.ones_like(x); lib.full_like(x, 2); lib.empty_like(x).layout; lib.zeros_like(x, layout=lib.strided)
d.sparse_mask(x); x.sparse_mask(x); x @ d; x.mv(d[0]); lib.addmm(d, x, d, beta=2, alpha=3); lib.addmm(d[0], x, d)
lib.sparse.mm(x, d, "mean"); lib.sparse.mm(x, d, "amax"); lib.sparse.mm(x, d, "sum"); lib.sparse.mm(x, d, "other")
lib.sparse.mm(x, d, "max"); lib.sparse.mm(x, d, "min")
lib.sparse.sampled_addmm(x, d, d, beta=2, alpha=3); x.to_sparse(); x.to_sparse_csr(); x.to_sparse_csc(); x.to_sparse(1)
x.to_sparse_bsr((2, 2)); x.to_sparse_bsc((2, 2)); x.to_sparse(layout=x.layout, blocksize=(1, 1)); lib.cat([x, x])
x.requires_grad_(); x.__reduce_ex__(2)[1]; lib.is_same_size(x, x); len(x); x.item(); x.is_coalesced()
x.requires_grad_().to_dense(); x.requires_grad_() * 2; lib.nn.functional.threshold(x, 1, 2)
"""


@pytest.mark.parametrize("kind", _KINDS)
def test_each_layout_does_what_torchs_does(kind: str) -> None:
    for one in OF_EACH.replace("\n", ";").split(";"):
        if not one.strip():
            continue
        code = compile(one.strip(), one, "eval")

        def run(lib: Any, code: Any = code) -> Any:
            return eval(code, {"lib": lib, "x": _of(lib, kind), "d": _dense(lib)})

        assert _outcome(run, mt) == _outcome(run, torch), one


_PARTS = "T([0, 1, 2]), T([0, 1]), T([1.0, 2.0])"
MAKING = f"""
csr([0, 1, 2], [0, 1], [1.0, 2.0]); csr({_PARTS}, (2, 2)); csr({_PARTS}, (2, 2), dtype=lib.float64)
csr([0, 1, 2], [0, 1], [1, 2], (2, 2)).dtype; csr(T([0, 1], dtype=lib.int32), T([0], dtype=lib.int32), T([1.0]))
csr([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2), layout=lib.sparse_csc); csr({_PARTS}, (2, 2), requires_grad=True)
csr((2, 2)); csr([0, 1], [0]); csr({_PARTS}, (-2, 2))
any_(T([0, 1]), T([0]), T([1.0]), (1, 1)); any_(T([0, 1]), T([0]), T([1.0]), (1, 1), layout=lib.sparse_csc)
any_(T([0, 1]), T([0]), T([1.0]), layout=lib.strided); any_(T([0, 1]), T([0]), T([1.0]), layout=lib.sparse_coo)
csc({_PARTS}, (3, 2)); bsc(T([0, 1, 2]), T([0, 1]), lib.ones(2, 2, 3)).shape; bsr(T([0, 1]), T([1]), lib.ones(1, 2, 2))
csr(T([[0, 1], [0, 1]]), T([[0], [0]]), T([[1.0], [2.0]]), (2, 1, 1)); csr(T([0, 1]), T([0]), lib.ones(1, 3)).dense_dim()
csr({_PARTS}, (2, 2)) + csr({_PARTS}, (2, 3)); csr({_PARTS}, (2, 2)).mm(lib.eye(3)); csr({_PARTS}).mm(lib.eye(2).double())
csr({_PARTS}) + csc({_PARTS}); csr({_PARTS})[0]; csr({_PARTS})[:, 1]; csr({_PARTS})[1, 1]; csr({_PARTS}).select(0, 3)
lib.ones(2, 3).to_sparse_bsr((2, 2)); lib.ones(2, 4).to_sparse_bsr((0, 2)); lib.ones(2, 4).to_sparse_bsr((2,))
lib.ones(2, 4).to_sparse_bsr(2); lib.ones(2, 4, 3).to_sparse_csr(); lib.ones(2, 4, 3).to_sparse_csr(dense_dim=1)
lib.ones(2, 4, 3).to_sparse_csr(dense_dim=2); lib.ones(2, 4, 3).to_sparse_csr().to_sparse(); lib.ones(0, 4).to_sparse_csr()
T([[[1, 0], [0, 1]], [[1, 1], [0, 1]]]).to_sparse_csr(); lib.ones(2, 4).to_sparse(layout=lib.sparse_bsr)
lib.ones(2, 4).to_sparse(layout=lib.sparse_csr, blocksize=(1, 1)); lib.ones(2, 4).to_sparse(layout=lib.strided)
lib.ones(2, 4, 2).to_sparse().to_sparse_csr(); lib.ones(2, 4, 2).to_sparse(2).to_sparse_csr(); lib.eye(2).crow_indices()
lib.empty(2, 4, layout=lib.sparse_bsr); lib.zeros(2, 4, layout=lib.sparse_csr); lib.zeros(2, layout=lib.sparse_csc)
lib.sparse.addmm(lib.ones(2, 2), csr({_PARTS}), lib.ones(2, 2)); csr({_PARTS}).add(lib.eye(2), alpha=2); lib.eye(2).values()
lib.sparse.sampled_addmm(csr({_PARTS}), lib.ones(2, 2), lib.ones(2, 3)); lib._sparse_csr_prod(csr({_PARTS}), [0], keepdim=True)
lib._convert_indices_from_coo_to_csr(T([0, 0, 2]), 4); lib._convert_indices_from_csr_to_coo(T([0, 2, 3]), T([0, 1, 1]))
lib.eye(2).to_sparse().relu(); lib.sparse.mm(csr({_PARTS}), lib.ones(2, 2), "prod"); lib.sparse.sum(csr({_PARTS}))
"""


def _names(lib: Any) -> dict[str, Any]:
    kinds = {kind: getattr(lib, f"sparse_{kind}_tensor") for kind in _KINDS}
    return {"lib": lib, "T": lib.tensor, "any_": lib.sparse_compressed_tensor, **kinds}


def _all_as_in_torch(text: str) -> None:
    for one in text.replace("\n", ";").split(";"):
        if one.strip():
            code = compile(one.strip(), one, "eval")
            ours, torchs = (_outcome(lambda lib, code=code: eval(code, _names(lib)), lib) for lib in (mt, torch))
            assert ours == torchs, one


def test_they_are_made_as_in_torch() -> None:
    _all_as_in_torch(MAKING)


CHECKED = """
csr(T([0, 1], dtype=lib.int32), T([0]), T([1.0])); csr(T([0, 1], dtype=lib.int16), T([0], dtype=lib.int16), T([1.0]))
csr(I, J, V, (2,)); csr(I, J, V, (3, 2)); csr(I, J, V, (2, 1)); csc(I, J, V, (2, 1)); csc(I, J, V, (1, 2))
csr(T([0, 1, 3]), J, V, (2, 2)); csr(T([1, 1, 2]), J, V, (2, 2)); csc(T([1, 1, 2]), J, V, (2, 2)); csr(I, T([0]), V, (2, 2))
csr(T([0, 2, 2]), T([0, 0]), V, (2, 2)); csr(T([0, 2, 2]), T([1, 0]), V, (2, 2)); csc(T([0, 2, 2]), T([1, 0]), V, (2, 2))
csr(T([0, 2, 1, 2]), T([1, 0]), V, (3, 2)); csr(T([0, 3, 1, 2]), T([1, 0]), V, (3, 2)); csr(I, T([0, -1]), V, (2, 2))
csr(I, J, T([[1.0, 2.0]]), (2, 2)); csr(I, J, lib.ones(3), (2, 2)); csr(T([[0, 1, 2]]), J, V, (2, 2)); csr(T(0), J, V, (2, 2))
csr(T([[0, 1, 2]]), T([[0, 1]]), T([[1.0, 2.0]]), (2, 2, 2)); csr(I, J, T(1.0), (2, 2)); bsr(I, J, V, (2, 2))
bsr(I, J, lib.ones(2, 2, 2), (4, 5)); bsr(I, J, lib.ones(2, 2, 2), (5, 4)); bsr(I, J, lib.ones(2, 2, 2), (2, 2))
bsr(I, J, lib.ones(3, 2, 2), (4, 4)); csr(T([0.0, 1, 2]), T([0.0, 1]), V, (2, 2)); csr(I, T([0, 0, 1])[::2], V, (2, 2))
csr(I, J.to_sparse(), V, (2, 2)); lib._validate_sparse_csr_tensor_args(T([0, 1, 3]), J, V, (2, 2)); csr(I, J, V, (2, 2))
lib._validate_sparse_compressed_tensor_args(I, J, V, (2, 2), lib.strided); bsr(I, J, lib.ones(2, 2, 2), (4, 4))
lib._validate_compressed_sparse_indices(True, T([0, 2, 4]), T([0, 1, 1]), 2, 2, 3)
"""


def test_parts_that_do_not_fit_are_refused_while_invariants_are_checked() -> None:
    text = CHECKED
    for name, value in (("I", "T([0, 1, 2])"), ("J", "T([0, 1])"), ("V", "T([1.0, 2.0])")):
        text = (
            text.replace(f"({name},", f"({value},")
            .replace(f" {name},", f" {value},")
            .replace(f" {name}.", f" {value}.")
        )
    with mt.sparse.check_sparse_tensor_invariants(), torch.sparse.check_sparse_tensor_invariants():
        _all_as_in_torch(text)


SELECTED = """
x.select(0, 0); x.select(0, 3); x.select(1, 1); x.select(1, -1); x.select(-1, 2); x.select(0, 9); x[1, 2]; x[0]; x[:, 1]
lib.select_copy(x, 0, 0); lib.select_copy(x, 1, 1); lib.select_copy(x, -1, 2); lib.select_copy(x, 0, 9); b[0]; b[0, 0]
lib.select_copy(b, 1, 0); lib.select_copy(b, 0, 1); b[0, 0, 1]; b.select(2, 0); b.select(0, 5); h.select(2, 1); h.select(0, 1)
h.select(1, 3); lib.select_copy(h, 0, 1); lib.select_copy(h, 1, 1); lib.select_copy(h, 2, 1); x.select(0, 0)._base is x
x.t()._is_view(); x.t()._base is x; x.t().t()._base is x; x.t().values()._is_view(); x.transpose(0, 0)._base is x
x.values()._is_view(); x.detach()._is_view(); lib.select_copy(x, 0, 0)._is_view(); b[1]._base is b; h.select(2, 1)._base is h
x.__setitem__(0, 1); x.__setitem__((0, 0), 1.0); x.__setitem__(..., d); x.to_sparse().__setitem__(0, 1)
x.copy_(d.t().contiguous().to_sparse(layout=x.layout, blocksize=size)); x.copy_(h); x.copy_(x * 3)
x.copy_(lib.ones(4, 4).to_sparse(layout=x.layout, blocksize=size)); x.copy_(d[:2].to_sparse(layout=x.layout, blocksize=size))
lib.zeros(8, 4).to_sparse(layout=x.layout, blocksize=size).copy_(lib.zeros(4, 4).to_sparse(layout=x.layout, blocksize=size))
o.to_sparse(layout=x.layout, blocksize=size).copy_(o.to_sparse(layout=x.layout, blocksize=size and (4, 1)))
"""


@pytest.mark.parametrize("kind", _KINDS)
def test_what_is_selected_is_a_view_where_torchs_is(kind: str) -> None:
    def names(lib: Any) -> dict[str, Any]:
        x, d = _of(lib, kind), _dense(lib)
        size = (2, 2) if kind.startswith("b") else None
        b = lib.stack([d, d * 2]).to_sparse(layout=x.layout, blocksize=size)
        h = lib.stack([d, d * 3], -1).to_sparse(layout=x.layout, blocksize=size, dense_dim=1)
        return {"lib": lib, "x": x, "d": d, "b": b, "h": h, "size": size, "o": lib.ones(4, 4)}

    for one in SELECTED.replace("\n", ";").split(";"):
        if one.strip():
            code = compile(one.strip(), one, "eval")
            ours, torchs = (_outcome(lambda lib, code=code: eval(code, names(lib)), lib) for lib in (mt, torch))
            assert ours == torchs, one


WRITTEN = """
lib.mm(x, d, out=o.clone()); lib.addmm(o, x, d, out=o.clone()); lib.mv(x, d[0], out=o[0].clone()); lib.mm(x, d, out=o.double())
lib.addmv(d[0], x, d[1], out=o[0].clone()); lib.addmm(o, x, d, alpha=2, out=o.clone()); lib.mm(d, x, out=o.clone())
lib.mv(x, d[0], out=lib.empty(3)); lib.addmv(d[0], x, d[1], out=o[0].double()); o.clone().addmm_(x, d)
d[0].clone().addmv_(x, d[1])
o.clone().addmm_(x, d, beta=2, alpha=3); (x * 1j).abs_(); (x * 1j).abs(); x.abs_(); b.transpose(0, 2); b.transpose(-1, 0)
b.to_sparse_bsr((2, 2)); b.to_sparse_bsc((2, 2)); b.to_sparse(layout=lib.sparse_bsr, blocksize=(1, 1))
lib.zeros_like(x, layout=lib.sparse_coo); lib.zeros_like(b, layout=lib.sparse_coo, dtype=lib.int32).sparse_dim()
lib.sparse.sampled_addmm(x, lib.stack([d, d]), lib.stack([d, o])); lib.sparse.sampled_addmm(b, o, o)
lib.sparse.sampled_addmm(x, b.to_dense(), o)
lib.sparse.sampled_addmm(b, lib.stack([d, d, d]), lib.stack([d, o, d])); lib.sparse.sampled_addmm(b, b.to_dense(), b.to_dense())
lib.sparse.mm(lib.full((1, 64), 0.1, dtype=lib.float16).to_sparse_csr(), lib.full((64, 1), 1.1, dtype=lib.float16), "sum")
lib.sparse.mm(lib.full((1, 64), 0.1, dtype=lib.bfloat16).to_sparse_csr(), lib.full((64, 1), 1.1, dtype=lib.bfloat16), "mean")
"""


@pytest.mark.parametrize("kind", _KINDS)
def test_products_are_written_where_they_are_asked_for(kind: str) -> None:
    def names(lib: Any) -> dict[str, Any]:
        x, d = _of(lib, kind), _dense(lib)
        size = (2, 2) if kind.startswith("b") else None
        b = lib.stack([d, d * 2]).to_sparse(layout=x.layout, blocksize=size)
        return {"lib": lib, "x": x, "d": d, "b": b, "o": lib.ones(4, 4)}

    for one in WRITTEN.replace("\n", ";").split(";"):
        if one.strip():
            code = compile(one.strip(), one, "eval")
            ours, torchs = (_outcome(lambda lib, code=code: eval(code, names(lib)), lib) for lib in (mt, torch))
            assert ours == torchs, one


COORDINATES = """
c.clone().transpose_(0, 1); c.clone().t_(); lib.neg(c, out=c.clone()); u.log1p_(); u.int().log1p_(); u.asin_(); u.neg_(); c.abs_()
(c * 1j).abs_(); c.clone().sin_(); x * y; y * x; x * lib.sparse_coo_tensor(i[:1], lib.ones(2, 2, 3), (2, 2, 3))
(x * y).to_dense(); x.mul(y.coalesce()).is_coalesced(); c.t_().is_coalesced(); u.relu_(); c.relu_(); c.round_()
u.coalesce().sqrt_()
"""


@pytest.mark.parametrize("one", [one.strip() for one in COORDINATES.replace("\n", ";").split(";") if one.strip()])
def test_coordinates_are_changed_in_place_and_multiplied_as_torchs(one: str) -> None:
    def run(lib: Any) -> Any:
        i = lib.tensor([[0, 1], [1, 0]])
        x, y = (lib.sparse_coo_tensor(i, lib.ones(2, 2, last) * last, (2, 2, 2, last)) for last in (3, 1))
        u = lib.sparse_coo_tensor([[0, 0]], [0.25, 0.5], (3,))
        return eval(one, {"lib": lib, "c": _dense(lib).to_sparse(), "u": u, "i": i, "x": x, "y": y})

    _compare(run)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_tensor_of_so_many_entries_has_the_parts_of_torchs(kind: str) -> None:
    def shapes(lib: Any, entries: int, dense: int, size: Any, blocks: Any, index: str = "int32") -> Any:
        make = lib.ops.aten._sparse_compressed_tensor_with_dims
        made = make(
            entries, dense, size, blocks, getattr(lib, index), dtype=lib.float64, layout=getattr(lib, f"sparse_{kind}")
        )
        bounds, plain = (
            (made.crow_indices(), made.col_indices())
            if kind.endswith("sr")
            else (made.ccol_indices(), made.row_indices())
        )
        parts = (bounds.shape, bounds.dtype, plain.shape, made.values().shape)
        return made.shape, made._nnz(), made.dtype, made.layout, made.dense_dim(), *parts

    blocks = (2, 3) if kind.startswith("b") else ()
    for given in (
        (4, 0, (4, 6), blocks),
        (4, 1, (2, 4, 6, 5), blocks),
        (0, 0, (2, 4, 6), blocks, "int64"),
        (4, 1, (4, 6), blocks),
        (4, 0, (4, 7), blocks),
        (4, 0, (4, 6), (2,)),
        (4, 0, (4, 6), (0, 2)),
        (-1, 0, (4, 6), blocks),
        (4, 0, (4, 6), blocks, "int16"),
        # of blocks, torch reads memory behind the sizes
        *(() if blocks else ((4, -1, (4, 6), blocks),)),
    ):
        _compare(lambda lib, given=given: shapes(lib, *given))


@pytest.mark.parametrize("kind", ["coo", "csr"])
def test_the_values_that_were_given_take_no_history(kind: str) -> None:
    def run(lib: Any) -> Any:
        given = lib.ones(2)
        indices = [lib.tensor([[0, 1], [0, 1]])] if kind == "coo" else [lib.tensor([0, 1, 2]), lib.tensor([0, 1])]
        made = getattr(lib, f"sparse_{kind}_tensor")(*indices, given, (2, 2), requires_grad=True)
        seen = made.coalesce().values()
        return (
            given.requires_grad,
            given.grad_fn,
            seen.requires_grad,
            made._values().requires_grad if kind == "coo" else 0,
        )

    _compare(run)


def _gradients(lib: Any, kind: str) -> list[Any]:
    found = []
    for function in (
        lambda x, d: x.to_dense(),
        lambda x, d: (x * 2).to_dense(),
        lambda x, d: (x + x).values(),
        lambda x, d: x @ d,
        lambda x, d: lib.sparse.mm(x, d),
        lambda x, d: lib.sparse.mm(x, d, "mean"),
        lambda x, d: lib.sparse.sampled_addmm(x, d, d).values(),
        lambda x, d: x.sum(),
    ):
        x = _of(lib, kind).requires_grad_()
        d = _dense(lib).requires_grad_()
        function(x, d).square().sum().backward()
        found += [(one.grad.layout, one.grad.to_dense().tolist()) for one in (x, d) if one.grad is not None]
    return found


def test_gradients_are_torchs() -> None:
    assert repr(_gradients(mt, "csr")) == repr(_gradients(torch, "csr"))


@pytest.mark.parametrize("kind", _KINDS)
def test_gradients_are_the_slopes(kind: str) -> None:
    x = _of(mt, kind, _dense(mt).double()).requires_grad_()
    for masked in (True, False):
        assert mt.autograd.gradcheck(lambda a, m=masked: (a * 3).to_dense(masked_grad=m), (x,), masked=masked)
        dense = _dense(mt).double().requires_grad_()
        assert mt.autograd.gradcheck(lambda a: _of(mt, kind, a).to_dense(masked_grad=False), (dense,), masked=masked)


@pytest.mark.parametrize("kind", _KINDS)
def test_they_are_saved_and_copied(kind: str) -> None:
    x = _of(mt, kind)
    file, theirs = io.BytesIO(), io.BytesIO()
    mt.save(x, file)
    torch.save(_of(torch, kind), theirs)
    file.seek(0)
    theirs.seek(0)
    assert repr(mt.load(theirs)) == repr(x) == repr(copy.deepcopy(x)) == repr(torch.load(file))


def test_conversions_keep_what_is_stored_and_products_are_dense_ones() -> None:
    dense = mt.zeros(3, 4, 6).masked_fill(mt.arange(72).view(3, 4, 6) % 5 == 0, 2.0)
    dense[1:] = dense[0]
    for kind in _KINDS:
        stored = _of(mt, kind, dense)
        assert mt.equal(stored.to_dense(), dense)
        assert mt.equal(stored.transpose(1, 2).to_dense(), dense.transpose(1, 2))
        assert mt.equal(stored[1].to_dense(), dense[1])
        assert mt.equal(stored.to_sparse().to_dense(), dense)
        one = _of(mt, kind, dense[0])
        for other in _KINDS:
            if other.startswith("c") <= kind.startswith("c"):
                assert mt.equal(_of(mt, other, one).to_dense(), dense[0])
        if kind != "bsc":
            assert mt.equal(one @ dense[0].t(), dense[0] @ dense[0].t())


def test_a_part_is_shared_memory() -> None:
    x = _of(mt, "csr")
    x.values().mul_(2)
    assert mt.equal(x.to_dense(), _dense(mt) * 2)


OF_PYTORCH_TESTS = (
    "T.sinh(s, out=T.zeros(2, 2).to_sparse())", "T.trunc(s.to(T.int32), out=T.zeros(2, 2, dtype=T.int32).to_sparse())",
    "T.sinh(s, out=T.zeros(2, 2))", "T.sinh(s, out=T.zeros(2, 2, dtype=T.int64).to_sparse())",
    "T.sinh(s.detach().requires_grad_(), out=T.zeros(2, 2).to_sparse())", "T.sinh(c, out=T.eye(4).to_sparse_csr())",
    "T.abs(c.to(T.complex64), out=T.eye(4).to_sparse_csr())", "T.sinh(c, out=T.eye(4, dtype=T.int64).to_sparse_csr())",
    "T.zeros_like(c, layout=T.sparse_csc)", "T.zeros_like(c, layout=T.sparse_bsr)", "T.zeros_like(b, layout=T.sparse_bsc)",
    "T.zeros_like(b, layout=T.sparse_csr)", "(T.manual_seed(0), T.randn_like(c))[1]", "T.randn_like(b).layout",
    "T._validate_sparse_coo_tensor_args(i, s.values(), (2, 2))", "T._validate_sparse_coo_tensor_args(i, s.values(), (1, 2))",
    "T._validate_sparse_coo_tensor_args(i - 1, s.values(), (2, 2))",
    "T._validate_sparse_coo_tensor_args(i, s.values(), (2, 2), is_coalesced=True)",
    "T._validate_sparse_coo_tensor_args(i.flip(1), s.values(), (2, 2), is_coalesced=True)",
)  # fmt: skip


@pytest.mark.parametrize("text", OF_PYTORCH_TESTS)
def test_what_tests_of_pytorch_call(text: str) -> None:
    def call(lib: Any) -> Any:
        indices = lib.tensor([[0, 1], [1, 0]])
        entries = lib.sparse_coo_tensor(indices, lib.tensor([1.5, 2.5]), (2, 2)).coalesce()
        names = {"T": lib, "i": indices, "s": entries, "c": lib.eye(4).to_sparse_csr()}
        return eval(text, {**names, "b": lib.eye(4).to_sparse_bsr((2, 2))})

    _compare(call)


OF_CHECKED_GRADIENTS = {
    "conversion": lambda lib, x: x.to_dense(),
    "product": lambda lib, x: x @ lib.ones(4, 1, dtype=lib.float64),
    "a list": lambda lib, x: [x.to_dense()],
    "a gradient that is lost": lambda lib, x: x.to_dense().detach().requires_grad_() * 1,
}


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr"])
@pytest.mark.parametrize("name", OF_CHECKED_GRADIENTS)
def test_gradients_of_sparse_functions_are_checked(name: str, layout: str, masked: bool) -> None:
    def check(lib: Any) -> bool:
        block = (2, 2) if layout == "sparse_bsr" else None
        x = _dense(lib).double().to_sparse(layout=getattr(lib, layout), blocksize=block).requires_grad_()
        gradcheck = lib.sparse.as_sparse_gradcheck(lib.autograd.gradcheck)
        return gradcheck(lambda x: OF_CHECKED_GRADIENTS[name](lib, x), x, masked=masked)

    _compare(check)
