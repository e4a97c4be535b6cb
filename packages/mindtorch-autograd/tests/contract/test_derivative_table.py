"""The derivative table: rows are well formed, and gradients and their gradients are those of central differences.

Every differentiable entry of torch's op database is checked in float64 and complex128, on a few small samples. What fails
is listed with the reason, as a strict expected failure: an entry that passes must leave the list.
"""

from __future__ import annotations

import pytest

from mindtorch_autograd.derivative import check_table

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("expecttest", reason="torch.testing._internal needs it")

from . import entries  # noqa: E402
from .entries import FIRST, SECOND  # noqa: E402

REAL, COMPLEX = torch.float64, torch.complex128

COARSE = "the result has fewer digits than differences need"
CASTS = dict.fromkeys(("bfloat16", "half", "float", "cfloat", "chalf"), COARSE)
WEIGHTS = "a sample's weights are float32: " + COARSE
OVERWRITTEN = "samples write several values to one place: a gradient goes to each of them, as in torch"
RANDOM = "torch gives the mean and the deviation of random numbers no gradient"
POLE = "samples have powers of zero, where the derivative is infinite"
FUSED = "torch has no derivative of this kernel's backward either"
SPARSE = "the result is sparse, of which differences are not taken; test_sparse_compressed.py checks the gradient"
OPERAND = "differences step through the sparse operand by operators without a gradient; first gradients equal torch's"
CORNER = "a norm has no second derivative at zero"

KNOWN = {
    (FIRST, REAL): {
        **CASTS,
        "cov": WEIGHTS,
        "nn.functional.max_unpool1d": OVERWRITTEN,
        "nn.functional.max_unpool2d": OVERWRITTEN,
        "nn.functional.max_unpool3d": OVERWRITTEN,
        "__rpow__": POLE,
        "normal": RANDOM,
        "normal.number_mean": RANDOM,
        "sparse.mm.reduce": OPERAND,
        "sparse.sampled_addmm": SPARSE,
    },
    (FIRST, COMPLEX): {**CASTS, "cov": WEIGHTS, "sparse.sampled_addmm": SPARSE},
    (SECOND, REAL): {
        **{name: why for name, why in CASTS.items() if name != "float"},
        "cov": WEIGHTS,
        "nn.functional.ctc_loss": FUSED,
        "__rpow__": POLE,
        "linalg.norm.subgradients_at_zero": CORNER,
        "sparse.mm.reduce": OPERAND,
    },
    (SECOND, COMPLEX): {
        **CASTS,
        "cov": WEIGHTS,
        "linalg.norm.subgradients_at_zero": CORNER,
    },
}
"""Per check and dtype, what fails and why."""

PASSING = {(FIRST, REAL): 525, (FIRST, COMPLEX): 319, (SECOND, REAL): 523, (SECOND, COMPLEX): 319}
"""How many entries pass; only ever raised."""

CASES = [pytest.param(*case, id=f"{case[0][1]}-{case[1]}") for case in KNOWN]


def test_rows_are_well_formed() -> None:
    assert check_table() == []


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "dtype"), CASES)
def test_gradients_are_those_of_differences(suite, dtype) -> None:
    known = KNOWN[suite, dtype]
    passed, failed = entries.sweep(suite, dtype, known)
    assert failed == {}
    assert passed >= PASSING[suite, dtype]
    assert passed / (passed + len(known)) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "dtype", "name"),
    [
        pytest.param(*case, name, id=f"{case[0][1]}-{case[1]}-{name}", marks=pytest.mark.xfail(reason=why, strict=True))
        for case, known in KNOWN.items()
        for name, why in known.items()
    ],
)
def test_known_failures(suite, dtype, name) -> None:
    entries.check(entries.entry(name), suite, dtype)
