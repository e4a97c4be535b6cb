from __future__ import annotations

import copy
import pickle

import pytest

import mindtorch_storage.dtype as ours

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")
NAMES = sorted(name for name, value in vars(torch).items() if isinstance(value, torch.dtype))
FACTS = ("itemsize", "is_floating_point", "is_complex", "is_signed", "abbr")


@pytest.mark.parametrize("name", NAMES)
def test_facts_are_those_of_torch(name: str) -> None:
    mine, theirs = getattr(ours, name), getattr(torch, name)
    assert_same(lambda: mine, lambda: theirs)
    for fact in FACTS:
        assert_same(lambda fact=fact: getattr(mine, fact), lambda fact=fact: getattr(theirs, fact))
        assert_same(lambda fact=fact: setattr(mine, fact, 1), lambda fact=fact: setattr(theirs, fact, 1))
    assert_same(mine.to_complex, theirs.to_complex)
    assert_same(mine.to_real, theirs.to_real)
    assert mine.type_name == torch.empty(0, dtype=theirs).type()
    assert mine.np.itemsize == theirs.itemsize
    assert ours.by_name(name) is mine


def test_every_dtype_of_torch_exists_once() -> None:
    assert len(ours.ALL_DTYPES) == len({getattr(torch, name) for name in NAMES})
    assert [each.index for each in ours.ALL_DTYPES] == list(range(len(ours.ALL_DTYPES)))


def test_instances_cannot_be_made_or_changed() -> None:
    assert_same(ours.dtype, torch.dtype)
    assert_same(lambda: type("Mine", (ours.dtype,), {}), lambda: type("Mine", (torch.dtype,), {}))
    assert_same(lambda: setattr(ours.int8, "new", 1), lambda: setattr(torch.int8, "new", 1))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_and_copies_are_the_same_object(protocol: int) -> None:
    for each in ours.ALL_DTYPES:
        assert pickle.loads(pickle.dumps(each, protocol)) is each
        assert copy.deepcopy(each) is each
        assert copy.copy(each) is each


@pytest.mark.parametrize(
    "numpy_name",
    [
        "float64",
        "float32",
        "float16",
        "complex64",
        "complex128",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint64",
        "uint32",
        "uint16",
        "uint8",
        "bool",
    ],
)
def test_numpy_types_map_as_from_numpy(numpy_name: str) -> None:
    import numpy as np

    assert_same(lambda: ours.from_numpy(numpy_name), lambda: torch.from_numpy(np.zeros(1, numpy_name)).dtype)


@pytest.mark.parametrize("numpy_name", ["U3", "S1", "M8[s]", "O"])
def test_other_numpy_types_raise_the_text_of_torch(numpy_name: str) -> None:
    import numpy as np

    dtype = np.dtype(numpy_name)
    assert_same(lambda: ours.from_numpy(dtype), lambda: torch.from_numpy(np.zeros(1, dtype)))
