"""Masked reductions equal torch's."""

from __future__ import annotations

import math

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

VALUES = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
MASK = [[True, False, True], [False, False, False]]
REDUCTIONS = "sum prod amax amin argmax argmin mean median logsumexp softmax log_softmax softmin cumsum cumprod".split()
FORMS = {
    "plain": lambda f, x, m: f(x, 1, mask=m),
    "int": lambda f, x, m: f(x.int(), 1, mask=m),
    "bool": lambda f, x, m: f(x > 2, 1, mask=m),
    "no mask": lambda f, x, m: f(x, 1),
    "all": lambda f, x, m: f(x, None, mask=m),
    "kept": lambda f, x, m: f(x, 1, keepdim=True, mask=m),
    "double": lambda f, x, m: f(x, 1, dtype=x.double().dtype, mask=m),
    "row": lambda f, x, m: f(x, 1, mask=m[0]),
    "too many": lambda f, x, m: f(x, 1, mask=m[None]),
}
OTHERS = {
    **{f"norm {p}": lambda k, x, m, p=p: k.norm(x, p, 1, mask=m) for p in (2.0, math.inf, -math.inf, 0.0, 1.0)},
    "var": lambda k, x, m: k.var(x, 1, False, mask=m),
    "var unbiased": lambda k, x, m: k.var(x, 1, True, mask=m),
    "var correction": lambda k, x, m: k.var(x, 1, correction=2),
    "var both": lambda k, x, m: k.var(x, 1, True, correction=2),
    "var int": lambda k, x, m: k.var(x.int(), 1, False, mask=m),
    "std": lambda k, x, m: k.std(x, 1, False, mask=m, keepdim=True),
    "normalize": lambda k, x, m: k.normalize(x, 2.0, 1, mask=m),
    "logaddexp": lambda k, x, m: k.logaddexp(x, x, input_mask=m, other_mask=m),
}


def _outcome(lib, call):
    try:
        result = call(lib.masked, lib.tensor(VALUES), lib.tensor(MASK))
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
        return type(error).__name__, str(error)
    return str(result.dtype), tuple(result.shape), result.double().reshape(-1).tolist()


def _assert_same(call):
    ours, theirs = _outcome(mt, call), _outcome(torch, call)
    assert ours[:2] == theirs[:2]
    if len(theirs) == 3:
        assert ours[2] == pytest.approx(theirs[2], rel=1e-6, nan_ok=True)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("form", FORMS)
def test_reduction(name, form):
    _assert_same(lambda module, x, mask: FORMS[form](getattr(module, name), x, mask))


@pytest.mark.parametrize("name", OTHERS)
def test_other(name):
    _assert_same(OTHERS[name])


@pytest.mark.parametrize("name", ["sum", "argmax", "cumsum", "softmax", "median", "norm", "normalize", "logaddexp"])
@pytest.mark.parametrize("given", [{}, {"dim": 1}, {"dim": 0, "keepdim": True}, {"dim": -1}])
@pytest.mark.parametrize("masked", [True, False])
def test_mask_of_the_result(name, given, masked):
    _assert_same(
        lambda module, x, mask: module._output_mask(
            getattr(module, name), x, **given, **({"mask": mask} if masked else {})
        )
    )


@pytest.mark.parametrize("op", [3, len])
def test_mask_of_no_masked_operation(op):
    _assert_same(lambda module, x, mask: module._output_mask(op, x, mask=mask))
