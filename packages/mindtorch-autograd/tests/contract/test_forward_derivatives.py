"""Forward mode: every entry's tangents are torch's and those of central differences, as are those of its gradients.

Entries of torch's op database that have forward derivatives there are checked in float64 and complex128, on a few small
samples. What fails is listed with the reason, as a strict expected failure.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("expecttest", reason="torch.testing._internal needs it")

from . import entries  # noqa: E402
from .entries import FORWARD, OVER  # noqa: E402

REAL, COMPLEX = torch.float64, torch.complex128

WEIGHTS = "a sample's weights are float32: the result has fewer digits than differences need"
CORNER = "a norm has no second derivative at zero"
POLE = "samples have powers of zero, where the derivative is infinite"

KNOWN = {
    (FORWARD, REAL): {
        "cov": WEIGHTS,
        "__rpow__": POLE,
    },
    (FORWARD, COMPLEX): {"cov": WEIGHTS},
    (OVER, REAL): {"cov": WEIGHTS, "__rpow__": POLE, "linalg.norm.subgradients_at_zero": CORNER},
}
"""Per check and dtype, what fails and why."""

PASSING = {(FORWARD, REAL): 504, (FORWARD, COMPLEX): 316, (OVER, REAL): 501}
"""How many entries pass; only ever raised."""

CASES = [pytest.param(*case, id=f"{case[0][1]}-{case[1]}") for case in KNOWN]


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "dtype"), CASES)
def test_tangents_are_those_of_torch(suite, dtype) -> None:
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
