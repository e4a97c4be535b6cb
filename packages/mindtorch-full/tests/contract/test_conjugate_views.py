"""Views that show the conjugates of what their storage holds; beside torch."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

import mindtorch

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")

CASES = (
    "c", "c.is_conj()", "T.is_conj(c)", "c._base is x", "c.data_ptr() == x.data_ptr()", "c.tolist()", "c[0, 0].item()",
    "c.numpy()", "np.asarray(c)", "c.numpy(force=True)", "c.resolve_conj()", "c.resolve_conj().is_conj()",
    "c.conj().is_conj()", "c.view(4).is_conj()", "c[1:].is_conj()", "c.detach().is_conj()", "c.clone().is_conj()",
    "c.t().is_conj()", "x.mH.is_conj()", "x.H.is_conj()", "x.adjoint().is_conj()", "x.to(T.complex128).conj() * 2", "c * 2",
    "c + x", "T.equal(c, x)", "T.cat([c, x])", "c @ c.mH", "c.sum()", "T.fft.fft(c)", "T.linalg.inv(c)", "T.vdot(c[0], c[1])",
    "T.view_as_real(c)", "c.view(T.float32)", "c.view(T.int64)", "c.is_set_to(x)", "T.nn.Parameter(c).is_conj()",
    "(c.real, c.real.data_ptr() == x.data_ptr())", "(c.imag, c.imag.is_neg(), c.imag.data_ptr() == x.imag.data_ptr())",
    "(c.imag.fill_(3), x)", "(c.real.fill_(3), x)", "(c._neg_view().mul_(2), x)",
    "(c.add_(1), x)", "(c.zero_(), x)", "(c.fill_(1j), x)", "(c.__setitem__(0, 9j), x)", "(c[:, ::2].mul_(1j), x)",
    "(c.copy_(x), x)", "(x.copy_(c), x)", "(x.mH.copy_(T.ones(2, 2) * 1j), x)", "(x.add_(1), c)", "(x.mul_(1j), c.imag)",
    "(T.mul(x, 2, out=c), x)", "(c.index_put_((T.tensor([0]),), T.tensor(1j)), x)", "(c.masked_fill_(x.real > 2, 9j), x)",
    "(x._lazy_clone(), x.add_(2), c)", "T.tensor([1.0]).conj().is_conj()", "x.to_sparse().conj().is_conj()",
    "copy.deepcopy(c).is_conj()", "pickle.loads(pickle.dumps(c))", "pickle.loads(pickle.dumps(c)).is_conj()",
    "pickle.loads(pickle.dumps(c.imag)).is_neg()", "c.__dlpack__()", "T.empty_like(c).is_conj()", "repr(c)",
    "T.func.vmap(lambda row: row.conj() * 1j)(x)", "T.func.vmap(lambda row: row.conj())(c)",
    "T.func.jvp(lambda t: t.conj(), (x,), (x,))", "T.func.vjp(lambda t: t.conj(), x)[1](x)",
    "a.conj().grad_fn.name()", "(a * 1).conj()._base is None",
)  # fmt: skip


def _names(module: Any) -> dict[str, Any]:
    x = module.tensor([[1 + 2j, 3 - 4j], [5 + 6j, 7j]])
    leaf = module.tensor([1 + 2j, 3.0], requires_grad=True)
    return {"T": module, "x": x, "c": x.conj(), "a": leaf, "np": np, "copy": copy, "pickle": pickle}


@pytest.mark.parametrize("text", CASES)
def test_as_in_torch(text: str) -> None:
    """Values, writes through the view and errors are torch's."""
    code = compile(text, "case", "eval")
    assert_same(lambda: eval(code, _names(mindtorch)), lambda: eval(code, _names(torch)))


WRITES = {
    "to the view": "c.mul_(2j)",
    "to the base": "b.mul_(2j)",
    "to a part of the view": "c[0] = 5",
    "to steps of the view": "c[::2].mul_(w)",
    "of what needs a gradient": "c.mul_(w)",
}


def _gradients(module: Any, write: str) -> Any:
    leaf = module.tensor([1 + 2j, 3.0, 1j], requires_grad=True)
    weight = module.tensor(2 - 1j, requires_grad=True)
    base = leaf * 1
    view = base.conj()
    exec(write, {"b": base, "c": view, "w": weight})
    (view * module.tensor([1j, 2, 3]) + base).sum().abs().backward()
    return leaf.grad, weight.grad, view.detach().resolve_conj(), base.detach(), view.grad_fn.name(), base.grad_fn.name()


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_recorded_writes(write: str) -> None:
    """Values, gradients and nodes after a write through the view, and under it, are torch's."""
    assert_same(lambda: _gradients(mindtorch, write), lambda: _gradients(torch, write))


def test_a_view_of_what_needs_no_gradient_is_written_with_what_needs_one() -> None:
    """The base gets the history, as in torch."""

    def gradient(module: Any) -> Any:
        base, weight = module.ones(2, dtype=module.complex64), module.tensor(2 - 1j, requires_grad=True)
        base.conj().mul_(weight)
        base.sum().abs().backward()
        return base.detach(), weight.grad

    assert_same(lambda: gradient(mindtorch), lambda: gradient(torch))


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "older"])
def test_files_keep_the_bits(zipped: bool) -> None:
    """A file of torch with views of conjugates is read as such, and torch reads ours."""
    for writer, reader in ((torch, mindtorch), (mindtorch, torch)):
        file = io.BytesIO()
        writer.save(_names(writer)["c"], file, _use_new_zipfile_serialization=zipped)
        file.seek(0)
        read = reader.load(file)
        assert read.is_conj()
        assert read.tolist() == _names(writer)["c"].tolist()


def _gradient_under_bits(module: Any, write: str) -> Any:
    file = io.BytesIO()
    module.save(module.tensor([1 + 2j, 3 - 1j]).conj(), file)
    file.seek(0)
    base = module.load(file)
    weight = module.tensor([2.0, 3.0], requires_grad=True)
    view, back = base.imag, base.conj().real
    exec(write, {"b": base, "w": weight})
    total = (base * module.tensor([1 + 1j, 2])).sum().abs() + (view * module.tensor([1, 2.0])).sum() + back.sum()
    return base.detach(), view.detach(), back.detach(), module.autograd.grad(total, weight)


@pytest.mark.parametrize("write", ["b.mul_(w)", "b.conj().mul_(w * 1j)", "b[1:].mul_(w[:1] * 1j)"])
def test_recorded_writes_under_a_base_with_a_bit(write: str) -> None:
    """A tensor of a file has the bit and is no view; gradients of writes to it and to views of it are torch's."""
    assert_same(lambda: _gradient_under_bits(mindtorch, write), lambda: _gradient_under_bits(torch, write))


DUALS = (
    "d.conj()", "d.conj().conj()", "d.conj().resolve_conj()", "d.conj()[:1]", "d.conj().imag", "d._neg_view()", "d.conj() * d",
    "d.reshape(1, 2).mH", "D(x.conj(), t)", "D(x.conj(), t).imag", "D(x.conj(), t).conj().imag", "D(x, t.conj())",
    "D(x, t.conj()).imag", "D(x.conj(), t.conj()).imag",
)  # fmt: skip
DUAL_WRITES = (
    "v = d.conj(); v.mul_(2j)", "v = d.conj(); d.mul_(2j)", "v = d.conj().imag; v.mul_(3)", "v = x.conj(); v.mul_(d)",
    "v = x.conj()[:1]; v.mul_(d[:1])", "v = x.conj().imag; v.mul_(d.real)", "v = x._neg_view(); v.mul_(d)",
    "x = T.arange(4.0).to(t.dtype)[2:].detach(); v = x.imag[1:]; v.add_(d.real[:1])",
    "x = T.arange(4.0)[1:].detach(); v = x[1:]; v.add_(d.real)",
    "x = T.arange(8.0)[2:].detach(); v = T.view_as_complex(x.reshape(3, 2))[1:].conj(); v.add_(d)",
)  # fmt: skip


def _dual(module: Any, code: str) -> Any:
    forward = module.autograd.forward_ad
    names = {"T": module, "D": forward.make_dual, "x": module.tensor([1 + 2j, 3 - 1j])}
    names["t"] = module.tensor([1 + 1j, 2 + 5j])
    with forward.dual_level():
        names["d"] = forward.make_dual(names["x"].clone(), names["t"])
        exec(code, names)
        found = [names["v"], names["x"], names["d"]]
        tangents = [forward.unpack_dual(one).tangent for one in found]
        bits = [one is not None and (one.is_conj(), one.is_neg()) for one in tangents]
        return [one if one is None else one.tolist() for one in tangents], bits, [one.tolist() for one in found]


@pytest.mark.parametrize("code", [*(f"v = {made}" for made in DUALS), *DUAL_WRITES])
def test_tangents(code: str) -> None:
    """The tangent of a conjugate is the conjugate of the tangent and follows what is written to either, as in torch."""
    assert_same(lambda: _dual(mindtorch, code), lambda: _dual(torch, code))


@pytest.mark.parametrize(
    "code", ["a.real", "a * 2", "a.resolve_conj()", "a.conj().real", "a.abs()", "a.conj() @ a", "a.angle()"]
)
def test_examples_of_a_batch_of_conjugates(code: str) -> None:
    def each(module: Any) -> Any:
        x = module.tensor([[1 + 2j, 3 - 1j], [2 - 5j, -1 + 1j]])
        return module.vmap(lambda a: eval(code, {"a": a}))(x.conj()).resolve_conj()

    torch.testing.assert_close(torch.tensor(each(mindtorch).tolist()), torch.tensor(each(torch).tolist()))


def test_a_conjugate_that_was_saved_is_written_where_that_is_allowed() -> None:
    def program(module: Any) -> Any:
        leaf = module.tensor([1 + 1j, 2 - 1j], requires_grad=True)
        with module.autograd.graph.allow_mutation_on_saved_tensors():
            a = leaf.clone()
            b = a.conj()
            out = (b**2).sum()
            b.sin_()
            out.abs().backward()
        return leaf.grad.tolist(), a.tolist()

    ours, theirs = program(mindtorch), program(torch)
    torch.testing.assert_close(torch.tensor(ours), torch.tensor(theirs))
