"""Every build of the loops gives the same values, whatever its instructions."""

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
digest = hashlib.sha256()
for size in (1, 15, 16, 33, 70):
    x, y = random.normal(size=(2, 3, size)).astype(np.float32)
    x[0, 0] = np.inf
    for row in ("exp", "tanh", "erf", "sigmoid", "silu", "neg", "sqrt", "abs", "relu"):
        out = np.empty_like(x)
        kernels["cpu"][row].fn(out, x)
        digest.update(out.tobytes())
    out = np.empty_like(x)
    for row, values in (("gelu", (y, "none")), ("add.Tensor", (x, y, 1)), ("_softmax", (y, 1, False))):
        kernels["cpu"][row].fn(out, *values)
        digest.update(out.tobytes())
print(native.module.INSTRUCTIONS, digest.hexdigest())
"""


def run(name):
    environment = {**os.environ, "MINDTORCH_INSTRUCTIONS": name, "MINDTORCH_NATIVE": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.slow
def test_the_same_values_by_every_set():
    _, expected = run("base")
    widest = native.SETS.index(run("v4")[0])
    for place, name in enumerate(native.SETS):
        assert run(name) == [native.SETS[min(place, widest)], expected]


def test_a_set_it_has_not(monkeypatch):
    monkeypatch.setenv("MINDTORCH_INSTRUCTIONS", "v5")
    with pytest.raises(ValueError, match="base, v2, v3, v4 or unset, not 'v5'"):
        native.load()
