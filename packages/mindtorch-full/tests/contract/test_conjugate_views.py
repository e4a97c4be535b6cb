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
