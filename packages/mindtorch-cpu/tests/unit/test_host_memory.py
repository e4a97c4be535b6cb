"""Freed memory of large arrays: kept within its limit, given out again, and never in two hands."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import host_memory, native

pytestmark = pytest.mark.skipif(
    native.module is None or host_memory.statistics()["limit"] == 0, reason="numpy allocates everything here"
)
LARGE = 1 << 20


@pytest.fixture(autouse=True)
def _empty():
    limit = host_memory.statistics()["limit"]
    host_memory.empty_cache()
    yield
    host_memory.set_limit(limit)
    host_memory.empty_cache()


def test_a_freed_block_is_given_out_again():
    before = host_memory.statistics()
    array = np.empty(4 * LARGE, np.uint8)
    place = array.ctypes.data
    assert place % 64 == 0
    assert host_memory.statistics()["used"] - before["used"] >= array.nbytes
    del array
    assert host_memory.statistics()["used"] == before["used"]
    assert host_memory.statistics()["kept"] >= 4 * LARGE
    again = np.empty(4 * LARGE, np.uint8)
    assert again.ctypes.data == place
    assert host_memory.statistics()["kept"] == 0


def test_of_blocks_of_one_size_the_last_given_back_comes_first():
    arrays = [np.empty(4 * LARGE, np.uint8) for _ in range(3)]
    places = [array.ctypes.data for array in arrays]
    while arrays:
        arrays.pop(0)
    again = [np.empty(4 * LARGE, np.uint8) for _ in range(3)]
    assert [array.ctypes.data for array in again] == places[::-1]


def test_zeros_are_zeros_wherever_the_block_comes_from():
    array = np.empty(4 * LARGE, np.uint8)
    array.fill(7)
    place = array.ctypes.data
    del array
    zeros = np.zeros(4 * LARGE, np.uint8)
    assert zeros.ctypes.data == place
    assert not zeros.any()


def test_small_arrays_are_numpys():
    before = host_memory.statistics()["used"]
    arrays = [np.zeros(size, np.uint8) for size in (0, 1, 64, 4096, LARGE - 1)]
    assert host_memory.statistics()["used"] == before
    assert [array.size for array in arrays] == [0, 1, 64, 4096, LARGE - 1]


def test_the_limit_holds():
    host_memory.set_limit(6 * LARGE)
    arrays = [np.empty(4 * LARGE, np.uint8) for _ in range(3)]
    del arrays
    assert 4 * LARGE <= host_memory.statistics()["kept"] <= 6 * LARGE
    host_memory.set_limit(0)
    assert host_memory.statistics()["kept"] == 0
    with pytest.raises(ValueError, match="not negative"):
        host_memory.set_limit(-1)


def test_what_is_kept_does_not_make_the_process_larger():
    held = np.empty(20 * LARGE, np.uint8)
    most = host_memory.statistics()["used"]
    del held
    other = np.empty(10 * LARGE, np.uint8)  # too small for the block that is kept
    found = host_memory.statistics()
    assert found["used"] + found["kept"] <= most
    assert other.size == 10 * LARGE


@pytest.mark.parametrize("sizes", [(2, 6), (6, 2), (2, 0.001), (0.001, 2), (8, 7)])
def test_arrays_that_change_their_size_keep_their_elements(sizes):
    before = host_memory.statistics()["used"]
    first, second = (int(size * LARGE) for size in sizes)
    array = np.arange(first, dtype=np.int64)
    array.resize(second, refcheck=False)
    kept = min(first, second)
    assert np.array_equal(array[:kept], np.arange(kept))
    assert not array[kept:].any()
    del array
    assert host_memory.statistics()["used"] == before


def test_blocks_of_threads_are_apart():
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        held = []
        for _ in range(60):
            array = np.full(int(rng.integers(LARGE, 3 * LARGE)), seed, np.uint8)
            held.append(array)
            if len(held) > 3:
                wrong.extend(one for one in held if not (one[::4096] == seed).all())
                held.pop(int(rng.integers(len(held))))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_allocates():
    array = np.ones(4 * LARGE, np.uint8)
    child = os.fork()
    if child == 0:
        other = np.zeros(4 * LARGE, np.uint8)
        array[0] = 5
        os._exit(0 if not other.any() and array[0] == 5 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert array[0] == 1


@pytest.mark.parametrize(
    ("text", "wanted"), [("0", "0 0"), ("5000000", "5000000"), ("1GB", "number of bytes, not '1GB'")]
)
def test_the_variable(text, wanted):
    program = "import numpy, mindtorch_cpu.ops, mindtorch_cpu.host_memory as m; a = numpy.ones(1 << 21); del a; "
    program += "s = m.statistics(); print(s['kept'] * (s['limit'] == 0) if s['limit'] == 0 else '', s['limit'])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "MINDTORCH_HOST_CACHE": text},
    )
    assert wanted in done.stdout + done.stderr
