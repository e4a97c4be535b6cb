"""Views that show the negatives of what their storage holds; beside torch."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import mindtorch

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")

CASES = (
    "n", "n.is_neg()", "T.is_neg(n)", "n._base is x", "n.data_ptr() == x.data_ptr()", "n.tolist()", "n[0].item()", "n.numpy()",
    "np.asarray(n)", "n.numpy(force=True)", "n.resolve_neg()", "n.resolve_neg().is_neg()", "n._neg_view()",
    "n._neg_view().is_neg()", "n.view(1, 2)", "n[1:].is_neg()", "n.detach().is_neg()", "n.clone().is_neg()", "n.neg()", "n * 2",
    "n + x", "T.equal(n, x)", "T.equal(n, -x)", "T.cat([n, x])", "T.stack([x, n])", "n @ n", "n.sum()", "n[T.tensor([1])]",
    "(n.add_(1), x)", "(n.fill_(5), x)", "(n.__setitem__(0, 9.0), x)", "(n.copy_(T.ones(2)), x)", "(n.copy_(x), x)",
    "(x.copy_(n), x)", "(x.add_(1), n)", "(T._foreach_add([n, x], 1), x)", "(x._lazy_clone(), x.add_(2), n)",
    "T.tensor([True])._neg_view().tolist()", "T.tensor([1], dtype=T.uint8)._neg_view()", "T.tensor([1 + 2j])._neg_view()",
    "T.view_as_real(T.tensor([1 + 2j])._neg_view())", "T.ones(2).bfloat16()._neg_view() * 2", "T.ones(1, 2)._neg_view().t_()",
    "copy.deepcopy(n)", "copy.deepcopy(n).is_neg()", "pickle.loads(pickle.dumps(n))", "(x * 1)._neg_view().is_leaf",
    "(T.ones(2, requires_grad=True) * 1)._neg_view()", "(T.ones(2, requires_grad=True) * 1)._neg_view().mul_(2)",
    "pickle.loads(pickle.dumps(n)).is_neg()",
)  # fmt: skip


def _names(module: Any) -> dict[str, Any]:
    x = module.tensor([1.0, 2.0])
    return {"T": module, "x": x, "n": x._neg_view(), "np": np, "copy": copy, "pickle": pickle}


@pytest.mark.parametrize("text", CASES)
def test_as_in_torch(text: str) -> None:
    """Values, writes through the view and errors are torch's."""
    code = compile(text, "case", "eval")
    assert_same(lambda: eval(code, _names(mindtorch)), lambda: eval(code, _names(torch)))


def test_gradients_are_negated() -> None:
    """The gradient of a view of negatives is the negative."""
    leaf = mindtorch.ones(2, requires_grad=True)
    (leaf._neg_view() * mindtorch.tensor([1.0, 2.0])).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [-1.0, -2.0]


def test_what_is_not_offered_says_so() -> None:
    """Other devices raise; nothing has the wrong sign."""
    with pytest.raises(NotImplementedError, match="on the CPU alone"):
        mindtorch.ones(2, device="meta")._neg_view()
