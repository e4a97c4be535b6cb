"""Builds of the loops give the same values: arithmetic all of them, functions and products with a sum those with fused
multiplication and those without. Sums of rows are of as many parts as a register has lanes, so softmax has the same
values but for rounding."""

import os
import subprocess
import sys

import pytest

from mindtorch_cpu import native

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")

PROGRAM = """
import hashlib
import numpy as np
import mindtorch_cpu.ops
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

random = np.random.default_rng(5)
exact, rounded, summed = hashlib.sha256(), hashlib.sha256(), []
for size in (1, 15, 16, 33, 70):
    x, y = random.normal(size=(2, 3, size)).astype(np.float32)
    x[0, 0] = np.inf
    for digest, rows in ((exact, ("neg", "sqrt", "abs", "relu", "floor", "rsqrt")),
                         (rounded, ("exp", "tanh", "erf", "sigmoid", "silu", "log", "sin", "expm1"))):
        for row in rows:
            out = np.empty_like(x)
            kernels["cpu"][row].fn(out, x)
            digest.update(out.tobytes())
    out = np.empty_like(x)
    for digest, row, values in (
        (rounded, "gelu", (y, "none")), (exact, "add.Tensor", (x, y, 1)), (exact, "addcdiv", (x, y, y, 0.3)),
        (rounded, "add.Tensor", (x, y, 0.3)), (rounded, "addcmul", (x, y, y, 0.3)), (rounded, "lerp.Scalar", (x, y, 0.3)),
    ):
        kernels["cpu"][row].fn(out, *values)
        digest.update(out.tobytes())
    kernels["cpu"]["_softmax"].fn(out, y, 1, False)
    summed += out.ravel().tolist()
print(native.module.INSTRUCTIONS, exact.hexdigest(), rounded.hexdigest(), *summed)
"""


def run(name):
    environment = {**os.environ, "MINDTORCH_INSTRUCTIONS": name, "MINDTORCH_NATIVE": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.slow
def test_the_same_values_by_every_set():
    found = [run(name) for name in native.SETS]
    widest = native.SETS.index(found[-1][0])
    assert [one[0] for one in found] == [native.SETS[min(place, widest)] for place in range(len(native.SETS))]
    assert len({one[1] for one in found}) == 1
    assert found[0][2] == found[1][2]
    assert found[-2][2] == found[-1][2]
    softmax = [list(map(float, one[3:])) for one in found]
    assert all(one == pytest.approx(softmax[0], rel=1e-6) for one in softmax)


def test_a_set_it_has_not(monkeypatch):
    monkeypatch.setenv("MINDTORCH_INSTRUCTIONS", "v5")
    with pytest.raises(ValueError, match="base, v2, v3, v4 or unset, not 'v5'"):
        native.load()
