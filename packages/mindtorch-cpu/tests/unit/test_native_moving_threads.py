"""Copies, indexing and sums of rows on several threads: what one thread gives."""

import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
random = np.random.default_rng(1)
WIDE = random.standard_normal((413, 1201)).astype(np.float32)
CUBE = random.standard_normal((37, 64, 150)).astype(np.float32)
PLACES = random.integers(0, 413, 3000)
CASES = {
    "contiguous": ("clone", np.empty((413, 1201), np.float32), (WIDE,)),
    "line": ("clone", np.empty(1 << 20, np.float32), (np.resize(WIDE, 1 << 20),)),
    "turned": ("clone", np.empty((1201, 413), np.float32), (WIDE.T,)),
    "moved": ("clone", np.empty((150, 37, 64), np.float32), (CUBE.transpose(2, 0, 1),)),
    "converted": ("_to_copy", np.empty((1201, 413), np.float64), (WIDE.T,)),
    "filled": ("full", np.empty((413, 1201), np.float32), (None, 2.5)),
    "joined": ("cat", np.empty((413, 2402), np.float32), ([WIDE, WIDE], 1)),
    "rows": ("index_select", np.empty((3000, 1201), np.float32), (WIDE, 0, PLACES)),
    "embedded": ("embedding", np.empty((3000, 1201), np.float32), (WIDE, PLACES, -1, False, False)),
    "summed": (
        "embedding_dense_backward", np.empty((413, 1201), np.float32), (WIDE[PLACES], PLACES, 413, 7, False)
    ),
    "masked": ("index_put", WIDE.copy(), (WIDE, [WIDE > 0], np.zeros((), np.float32), False)),
}  # fmt: skip


def bags():
    begins = np.arange(0, 3000, 10)
    outs = (np.empty((300, 1201), np.float32), *(np.empty(n, np.int64) for n in (3000, 300, 300)))
    kernels["cpu"]["_embedding_bag"].fn(outs, WIDE, PLACES, begins, False, 1, False, None, False, -1)
    return [out.tobytes() for out in outs]


def best():
    outs = np.empty((413, 9), np.float32), np.empty((413, 9), np.int64)
    kernels["cpu"]["topk"].fn(outs, WIDE, 9, 1, True, True)
    return [out.tobytes() for out in outs]


def run(case):
    row, out, values = CASES[case]
    out = out.copy()
    kernels["cpu"][row].fn(out, *values)
    return out.tobytes()


@pytest.mark.parametrize("case", CASES)
def test_threads(case, set_threads):
    set_threads(1)
    alone = run(case)
    for count in (2, 3, 4):
        set_threads(count)
        assert run(case) == alone


@pytest.mark.parametrize("function", [bags, best])
def test_several_outputs(function, set_threads):
    set_threads(1)
    alone = function()
    set_threads(3)
    assert function() == alone
