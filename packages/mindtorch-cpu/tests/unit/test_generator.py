"""`Generator` without tensors: seeds, states, copies, threads, forks."""

import os
import pickle
import threading
import time

import numpy as np
import pytest

from mindtorch_cpu import random
from mindtorch_cpu.generator import Generator, default_generator


def test_looks_like_torch():
    generator = Generator()
    assert repr(generator).startswith("<torch._C.Generator object at 0x")
    assert str(Generator) == "<class 'torch._C.Generator'>"
    assert generator.device.type == "cpu"
    assert generator.initial_seed() == 67280421310721
    assert not hasattr(generator, "__dict__")


def test_seed_range():
    generator = Generator()
    assert generator.manual_seed(-1).initial_seed() == 2**64 - 1
    assert generator.manual_seed(-(2**63)).initial_seed() == 2**63
    assert generator.manual_seed(2**64 - 1) is generator
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match=r"^Overflow when unpacking long long$"):
            generator.manual_seed(seed)


@pytest.mark.parametrize(("seed", "name"), [(1.5, "float"), ("a", "str"), (True, "bool"), (None, "NoneType")])
def test_seed_type(seed, name):
    with pytest.raises(RuntimeError, match=f"^manual_seed expected a long, but got {name}$"):
        Generator().manual_seed(seed)


def test_seed_from_entropy_differs_and_is_remembered():
    generator = Generator()
    first, second = generator.seed(), generator.seed()
    assert first != second
    assert generator.initial_seed() == second


def test_only_the_low_half_of_the_seed_matters():
    one, other = Generator().manual_seed(7), Generator().manual_seed(7 + 2**32)
    assert one.engine.words(700).tolist() == other.engine.words(700).tolist()


@pytest.mark.parametrize("drawn", [0, 1, 623, 624, 625, 1248, 1500])
def test_state_continues_the_stream(drawn):
    one, other = Generator().manual_seed(3), Generator()
    one.engine.words(drawn)
    random.normal(one, np.empty(3, np.float32), 0.0, 1.0)
    other.set_state_bytes(one.state_bytes())
    assert np.array_equal(one.state_bytes(), other.state_bytes())
    assert one.engine.normal_cache == other.engine.normal_cache is not None
    assert one.engine.words(2000).tolist() == other.engine.words(2000).tolist()


def test_bad_states():
    generator = Generator()
    with pytest.raises(RuntimeError, match=r"of size 5056 but found the input RNG state size to be 5$"):
        generator.set_state_bytes(np.zeros(5, np.uint8))
    with pytest.raises(RuntimeError, match=r"^Invalid mt19937 state$"):
        generator.set_state_bytes(np.zeros(5056, np.uint8))


def test_clone_continues_independently():
    generator = Generator().manual_seed(5)
    generator.engine.words(10)
    clone = generator.clone_state()
    assert clone.engine.words(5).tolist() == generator.engine.words(5).tolist()
    clone.manual_seed(1)
    assert generator.initial_seed() == 5


def test_offsets_belong_to_accelerators():
    with pytest.raises(RuntimeError, match=r"^CPU Generator does not use offset$"):
        Generator().get_offset()
    with pytest.raises(RuntimeError, match=r"^CPU Generator does not use offset$"):
        Generator().set_offset(4)


def test_states_become_tensors_only_with_the_surface():
    if "mindtorch" not in os.sys.modules:
        with pytest.raises(RuntimeError, match="need the mindtorch package"):
            pickle.dumps(Generator())


@pytest.mark.parametrize("device", ["cuda", "meta", "xpu", "mps"])
def test_generators_of_absent_devices(device):
    with pytest.raises(RuntimeError):
        Generator(device)


def test_threads_share_one_stream_without_tearing():
    generator = Generator().manual_seed(0)
    outs = [np.empty(50_000, np.float32) for _ in range(4)]
    threads = [threading.Thread(target=random.uniform, args=(generator, out, 0.0, 1.0)) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = np.empty(200_000, np.float32)
    random.uniform(Generator().manual_seed(0), whole, 0.0, 1.0)
    assert {out.tobytes() for out in outs} == {part.tobytes() for part in whole.reshape(4, -1)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_a_drawing_process_can_draw():
    stop = threading.Event()

    def draw():
        while not stop.is_set():
            random.uniform(default_generator, np.empty(100_000, np.float32), 0.0, 1.0)

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                random.uniform(default_generator, np.empty(4, np.float32), 0.0, 1.0)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_a_generator_is_made_in_little_more_time_than_it_is_seeded():
    def shortest(function):
        times = []
        for _ in range(20):
            start = time.thread_time()
            for _ in range(200):
                function()
            times.append(time.thread_time() - start)
        return min(times)

    seeded = Generator()
    # 2 to 4 times; with an array of words for numpy to read one by one 20 times.
    assert shortest(Generator) < 10 * shortest(lambda: seeded.manual_seed(1))
