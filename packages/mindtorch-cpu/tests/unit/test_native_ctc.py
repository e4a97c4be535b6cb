"""Native connectionist temporal classification against the numpy kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native
from mindtorch_cpu.ops import ctc as numpy_kernels

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")

STEPS, CLASSES, BLANK = 12, 5, 2
INPUTS, LENGTHS = [12, 7, 0, 0, 2, 12], [4, 0, 2, 0, 3, 5]
"""Among them a sequence without steps, one without labels, neither, and one that is too short for its labels."""


def log_softmax(values: Any) -> Any:
    return values - np.log(np.exp(values).sum(-1, keepdims=True))


def operands(dtype: str, joined: bool) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    targets = rng.integers(0, CLASSES, (len(LENGTHS), max(LENGTHS)))
    targets[-1] = [1, 1, 3, 3, 1]  # equal neighbours have a blank between them
    rows = [row[:length] for row, length in zip(targets, LENGTHS, strict=True)]
    scores = log_softmax(rng.standard_normal((STEPS, len(LENGTHS), CLASSES)) * 2).astype(dtype)
    return scores, np.concatenate(rows) if joined else targets


def run(kernels: Any, scores: Any, targets: Any, zero_infinity: bool) -> tuple[Any, ...]:
    forward, backward = kernels
    count, dtype = len(LENGTHS), scores.dtype
    loss = np.full(count, np.nan, dtype)
    alpha = np.full((count, STEPS, 2 * max(LENGTHS) + 1), np.nan, dtype)
    given = (scores, targets, INPUTS, tuple(LENGTHS))
    forward((loss, alpha), *given, BLANK, zero_infinity)
    grads = np.full_like(scores, np.nan)
    slopes = np.linspace(0.5, 2, count).astype(dtype)
    backward(grads, slopes, *given, loss, alpha, BLANK, zero_infinity)
    return loss, alpha, grads


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_as_numpys(dtype: str, joined: bool, zero_infinity: bool, threads: int) -> None:
    scores, targets = operands(dtype, joined)
    mine = run((native_kernel("_ctc_loss"), native_kernel("_ctc_loss_backward")), scores, targets, zero_infinity)
    numpys = (numpy_kernels.ctc_loss, numpy_kernels.ctc_loss_backward)
    with np.errstate(all="ignore"):
        want = run(numpys, scores.astype("f8"), targets, zero_infinity)
    assert np.isinf(want[0]).sum() == 2
    for one, other in zip(mine, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4 if dtype == "float32" else 1e-10, atol=1e-5)


def test_labels_that_are_no_classes_are_numpys() -> None:
    taken: list[str] = []
    kernel = native.module.kernel("_ctc_loss", lambda *_values: taken.append("numpy"))
    scores, targets = operands("float32", False)
    for label in (-1, CLASSES):
        wrong = targets.copy()
        wrong[0, 1] = label
        kernel((np.empty(6, "f4"), np.empty((6, STEPS, 11), "f4")), scores, wrong, INPUTS, LENGTHS, BLANK, False)
    assert taken == ["numpy"] * 2
