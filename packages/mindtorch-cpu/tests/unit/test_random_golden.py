"""Known values of torch's CPU stream, for environments without torch."""

import numpy as np
import pytest

from mindtorch_cpu import random
from mindtorch_cpu.generator import Generator
from mindtorch_cpu.random.capability import capability, detect


@pytest.fixture
def generator():
    return Generator().manual_seed(0)


def filled(fill, size, dtype, *parameters):
    out = np.empty(size, dtype)
    fill(Generator().manual_seed(0), out, *parameters)
    return out


def test_uniform_of_seed_zero():
    values = filled(random.uniform, 5, np.float32, 0.0, 1.0)
    assert values.round(4).tolist() == pytest.approx([0.4963, 0.7682, 0.0885, 0.1320, 0.3074])


def test_normal_of_few_elements():
    values = filled(random.normal, 5, np.float32, 0.0, 1.0)
    assert values.tolist() == pytest.approx([1.5410, -0.2934, -2.1788, 0.5684, -1.0845], abs=1e-4)


def test_normal_of_many_elements_is_another_stream():
    values = filled(random.normal, 100, np.float32, 0.0, 1.0)
    assert values[:2].tolist() == pytest.approx([-1.1258, -1.1524], abs=1e-4)


def test_permutation_and_integers():
    assert filled(random.permutation, 10, np.int64).tolist() == [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]
    assert filled(random.random_below, 5, np.int64, 0, 10).tolist() == [4, 9, 3, 0, 3]


def test_words_do_not_depend_on_how_many_are_drawn_at_once(generator):
    at_once = generator.engine.wide_words(2000)
    generator.manual_seed(0)
    one_by_one = [generator.engine.wide_word() for _ in range(2000)]
    assert at_once.tolist() == one_by_one
    generator.manual_seed(0)
    halves = generator.engine.words(4000).astype(np.uint64)
    assert (halves[0::2] << np.uint64(32) | halves[1::2]).tolist() == one_by_one


def test_empty_outputs_draw_nothing(generator):
    before = generator.state_bytes()
    for fill, parameters in (
        (random.uniform, (0.0, 1.0)),
        (random.normal, (0.0, 1.0)),
        (random.bernoulli, (0.5,)),
        (random.exponential, (1.0,)),
    ):
        fill(generator, np.empty((3, 0), np.float32), *parameters)
    random.permutation(generator, np.empty(1, np.int64))
    assert np.array_equal(generator.state_bytes(), before)


@pytest.mark.parametrize(
    ("machine", "has_avx2", "override", "expected"),
    [
        ("x86_64", True, "", (True, True)),
        ("AMD64", True, "avx2", (True, True)),
        ("x86_64", True, "default", (False, False)),
        ("x86_64", False, "", (False, False)),
        ("aarch64", False, "", (True, False)),
    ],
)
def test_capability(machine, has_avx2, override, expected):
    assert detect(machine, has_avx2, override) == expected


def test_capability_of_this_process_is_one_of_the_known():
    assert capability in {(True, True), (True, False), (False, False)}
