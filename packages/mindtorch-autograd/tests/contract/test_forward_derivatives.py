"""Forward mode: every entry's tangents are torch's, and those of central differences.

Entries of torch's op database that have forward derivatives there are checked in float64 and complex128, on a few small
samples. What fails is listed with the reason, as a strict expected failure.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("expecttest", reason="torch.testing._internal needs it")

from . import entries  # noqa: E402
from .entries import FORWARD  # noqa: E402

REAL, COMPLEX = torch.float64, torch.complex128

WEIGHTS = "a sample's weights are float32: the result has fewer digits than differences need"
OVERWRITTEN = "samples write several values to one place: a tangent comes from each of them"
POLE = "samples have powers of zero, where the derivative is infinite"

KNOWN = {
    REAL: {
        "cov": WEIGHTS,
        "__rpow__": POLE,
        "nn.functional.max_unpool1d": OVERWRITTEN,
        "nn.functional.max_unpool2d": OVERWRITTEN,
        "nn.functional.max_unpool3d": OVERWRITTEN,
    },
    COMPLEX: {"cov": WEIGHTS},
}
"""Per dtype, what fails and why."""

PASSING = {REAL: 501, COMPLEX: 316}
"""How many entries pass; only ever raised."""


@pytest.mark.slow
@pytest.mark.parametrize("dtype", KNOWN, ids=str)
def test_tangents_are_those_of_torch(dtype) -> None:
    known = KNOWN[dtype]
    passed, failed = entries.sweep(FORWARD, dtype, known)
    assert failed == {}
    assert passed >= PASSING[dtype]
    assert passed / (passed + len(known)) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        pytest.param(dtype, name, id=f"{dtype}-{name}", marks=pytest.mark.xfail(reason=why, strict=True))
        for dtype, known in KNOWN.items()
        for name, why in known.items()
    ],
)
def test_known_failures(dtype, name) -> None:
    entries.check(entries.entry(name), FORWARD, dtype)
