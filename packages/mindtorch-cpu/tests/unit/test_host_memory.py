"""Freed memory of large arrays: kept within its limit, given out again, and never in two hands."""

import inspect
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
SMALLEST = 1 << 17


@pytest.fixture(autouse=True)
def _empty():
    limit = host_memory.statistics()["limit"]
    host_memory.empty_cache()
    yield
    host_memory.set_limit(limit)
    host_memory.empty_cache()


def alone(function):
    """Run a function of this file in a process whose large arrays are all its own: it knows where the next one lies."""
    program = f"import numpy as np, mindtorch_cpu.ops; from mindtorch_cpu import host_memory\nLARGE = {LARGE}\n"
    program += f"{inspect.getsource(function)}\n{function.__name__}()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def given_out_again():
    first = np.empty(4 * LARGE, np.uint8)
    place = first.ctypes.data
    assert place % 64 == 0
    assert host_memory.statistics()["used"] >= first.nbytes
    del first
    assert host_memory.statistics()["used"] == 0
    assert host_memory.statistics()["kept"] >= 4 * LARGE
    again = np.empty(4 * LARGE, np.uint8)
    assert again.ctypes.data == place
    assert host_memory.statistics()["kept"] == 0

    again.fill(7)  # all of it was used before
    del again
    zeros = np.zeros(4 * LARGE, np.uint8)
    assert zeros.ctypes.data == place
    assert not zeros.any()

    zeros.fill(7)  # a part of it was
    del zeros
    zeros = np.zeros(24 * LARGE, np.uint8)
    assert zeros.ctypes.data == place
    assert not zeros.any()


def joined():
    arrays = [np.full(LARGE, 7, np.uint8) for _ in range(12)]
    place = arrays[0].ctypes.data
    del arrays
    whole = np.empty(10 * LARGE, np.uint8)
    assert whole.ctypes.data == place
    assert whole[64:LARGE].all()  # the memory of before
    del whole
    parts = [np.empty(3 * LARGE, np.uint8) for _ in range(3)]
    assert [(part.ctypes.data - place) // LARGE for part in parts] == [0, 3, 6]


def given_back():
    arrays = [np.full(5 * LARGE, 7, np.uint8) for _ in range(5)]
    place = arrays[2].ctypes.data
    arrays[2] = None
    assert host_memory.statistics()["kept"] >= 2 * LARGE
    host_memory.empty_cache()
    assert host_memory.statistics()["kept"] == 0
    zeros = np.zeros(5 * LARGE, np.uint8)
    assert zeros.ctypes.data == place
    assert not zeros.any()
    assert all(array.min() == 7 for array in arrays if array is not None)


def no_larger():
    held = [np.empty(5 * LARGE, np.uint8) for _ in range(16)]
    most = host_memory.statistics()["used"]
    del held[::2]
    other = np.empty(30 * LARGE, np.uint8)  # too large for what is kept
    found = host_memory.statistics()
    assert found["used"] + found["kept"] <= most * 9 // 8
    assert found["kept"] < 30 * LARGE
    assert other.size == 30 * LARGE


@pytest.mark.slow  # a process each
@pytest.mark.parametrize("function", [given_out_again, joined, given_back, no_larger])
def test_places(function):
    alone(function)


@pytest.mark.parametrize("limit", [0, 5 * LARGE, 1 << 30])
def test_arrays_of_any_sizes_are_apart(limit):
    host_memory.set_limit(limit)
    rng = np.random.default_rng(0)
    held = {}
    for turn in range(400):
        size = int(np.exp(rng.uniform(np.log(SMALLEST / 2), np.log(9 * LARGE))))
        zeroed = rng.random() < 0.3
        array = (np.zeros if zeroed else np.empty)(size, np.uint8)
        assert not (zeroed and array.any())
        array[::512] = turn % 251
        array[-1] = turn % 251
        held[turn] = array
        while len(held) > 12 or (held and rng.random() < 0.4):
            made = int(rng.choice(list(held)))
            array = held.pop(made)
            assert (array[::512] == made % 251).all()
            assert array[-1] == made % 251
            del array
    used = host_memory.statistics()["used"]
    held.clear()
    assert host_memory.statistics()["used"] < used
    assert host_memory.statistics()["kept"] <= limit


def test_small_arrays_are_numpys():
    before = host_memory.statistics()["used"]
    arrays = [np.zeros(size, np.uint8) for size in (0, 1, 64, 4096, SMALLEST - 1)]
    assert host_memory.statistics()["used"] == before
    assert [array.size for array in arrays] == [0, 1, 64, 4096, SMALLEST - 1]
    arrays.append(np.zeros(SMALLEST, np.uint8))
    assert host_memory.statistics()["used"] > before


def test_the_limit_holds():
    host_memory.set_limit(6 * LARGE)
    arrays = [np.empty(4 * LARGE, np.uint8) for _ in range(3)]
    del arrays
    assert 2 * LARGE <= host_memory.statistics()["kept"] <= 6 * LARGE
    host_memory.set_limit(0)
    assert host_memory.statistics()["kept"] == 0
    with pytest.raises(ValueError, match="not negative"):
        host_memory.set_limit(-1)


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


def test_an_array_written_once_is_an_array_like_others() -> None:
    array = np.empty(5_000_001, np.uint8)[1:]
    with host_memory.written_once(array):
        array[:] = 3
    with pytest.raises(KeyError), host_memory.written_once(array):
        raise KeyError
    array += 1
    assert (array == 4).all()


def test_memory_that_is_taken_early_keeps_what_it_holds() -> None:
    array = np.empty(5_000_001, np.uint8)[1:]
    array[:2_500_000] = 3
    host_memory.populate(array.data)
    host_memory.populate(array.data[7:9])
    host_memory.populate(memoryview(bytearray(100_000)))
    assert (array[:2_500_000] == 3).all()


def test_only_what_can_be_written_is_taken_early() -> None:
    with pytest.raises(BufferError):
        host_memory.populate(memoryview(b"text"))
