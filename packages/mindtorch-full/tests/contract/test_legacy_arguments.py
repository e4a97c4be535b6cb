"""The legacy constructors read sizes as torch's do, and refuse what fits none of their forms in its words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")

ARGUMENTS = {
    "numbers of numpy": lambda lib: (np.int64(2), 3),
    "a tensor first": lambda lib: (lib.tensor(2), 3),
    "a tensor last": lambda lib: (2, lib.tensor(3)),
    "an array": lambda lib: (np.array(3),),
    "an array first": lambda lib: (np.array(3), 2),
    "a truth last": lambda lib: (2, True),
    "a truth first": lambda lib: (True, 2),
    "a tuple and numbers": lambda lib: ((6, 0), 1, 1, 0),
    "a list and a number": lambda lib: ([6, 0], 1),
    "a size and a number": lambda lib: (lib.Size([2, 2]), 1),
    "a fraction last": lambda lib: (2, 2.5),
    "a fraction": lambda lib: (1.5,),
    "a tensor of a fraction": lambda lib: (lib.tensor(2.0), 3),
    "a tuple last": lambda lib: (2, (3, 4)),
    "nothing last": lambda lib: (2, None),
    "nothing": lambda lib: (None,),
    "two tensors": lambda lib: (lib.ones(1), lib.ones(1)),
    "a word and a number": lambda lib: ("a", 1),
    "a set": lambda lib: ({1},),
}
CONSTRUCTORS = {
    "Tensor": lambda lib: lib.Tensor,
    "FloatTensor": lambda lib: lib.FloatTensor,
    "LongTensor": lambda lib: lib.LongTensor,
    "new": lambda lib: lib.ones(1).new,
}


def _shape_or_error(lib: Any, made: str, given: str) -> Any:
    try:
        return tuple(CONSTRUCTORS[made](lib)(*ARGUMENTS[given](lib)).shape)
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
        return type(error).__name__, str(error)


@pytest.mark.parametrize("made", CONSTRUCTORS)
@pytest.mark.parametrize("given", ARGUMENTS)
def test_arguments_are_read_as_in_torch(made: str, given: str) -> None:
    assert _shape_or_error(mt, made, given) == _shape_or_error(torch, made, given)


def test_the_types_of_old_are_no_base_classes() -> None:
    for lib in (mt, torch):
        with pytest.raises(TypeError, match=r"type 'torch\.FloatTensor' is not an acceptable base type"):
            type("Mine", (lib.FloatTensor,), {})


@pytest.mark.parametrize("given", ["tensor", "array", "bytes", "number of numpy"])
def test_typed_storages_take_sizes_and_sequences(given: str) -> None:
    def outcome(lib: Any) -> Any:
        values = {"tensor": lib.ones(2), "array": np.ones(2), "bytes": b"ab", "number of numpy": np.int64(3)}
        try:
            return len(lib.FloatStorage(values[given]))
        except TypeError as error:
            return str(error)

    assert outcome(mt) == outcome(torch)
