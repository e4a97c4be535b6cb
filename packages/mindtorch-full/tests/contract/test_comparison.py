"""`assert_close` and `make_tensor`: verdicts, texts and random values equal torch's."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

PAIRS = {
    "equal": lambda t: (t([1.0, 2.0]), t([1.0, 2.0])),
    "different": lambda t: (t([1.0, 2.0, 3.0]), t([1.0, 2.5, 4.0])),
    "scalars": lambda t: (t(1.0), t(2.0)),
    "floats": lambda t: (1.0, 2.0),
    "ints": lambda t: (1, 2),
    "bools": lambda t: (True, False),
    "bool and int": lambda t: (True, 1),
    "texts": lambda t: ("a", "a"),
    "none": lambda t: (None, None),
    "none and one": lambda t: (None, 1),
    "lists": lambda t: ([1, 2], [1, 3]),
    "lengths": lambda t: ([1, 2], [1, 2, 3]),
    "dicts": lambda t: ({"a": 1.0}, {"a": 2.0}),
    "keys": lambda t: ({"a": 1}, {"b": 1}),
    "integers": lambda t: (t([1, 2]), t([1, 3])),
    "booleans": lambda t: (t([True, False]), t([True, True])),
    "shapes": lambda t: (t([1.0, 2.0]), t([[1.0, 2.0]])),
    "dtypes": lambda t: (t([1.0]), t([1])),
    "nan": lambda t: (t([1.0, math.nan]), t([1.0, math.nan])),
    "arrays": lambda t: (np.array([1.0]), np.array([2.0])),
    "array and tensor": lambda t: (np.array([1.0]), t([1.0])),
    "complex": lambda t: (1 + 1j, 1 + 2j),
    "empty": lambda t: (t([]), t([])),
    "zero": lambda t: (t([1.0]), t([0.0])),
    "tensor and float": lambda t: (t([1.0]), 1.0),
    "nested": lambda t: ({"a": [t([1.0])]}, {"a": [t([2.0])]}),
    "infinite": lambda t: (t([math.inf]), t([1.0])),
    "objects": lambda t: (object(), object()),
    "int and float": lambda t: (1, 1.0),
    "numpy scalars": lambda t: (np.float32(1), np.float32(2)),
    "large": lambda t: (t([2**62]), t([2**62 + 1])),
}
OPTIONS = {
    "nan equal": (lambda t: (t([math.nan]), t([math.nan])), {"equal_nan": True}),
    "rtol alone": (lambda t: (t(1.0), t(1.0)), {"rtol": 1.0}),
    "atol alone": (lambda t: (t(1.0), t(1.0)), {"atol": 1.0}),
    "tolerant": (lambda t: (t([1.0, 2.0]), t([1.1, 2.0])), {"rtol": 0, "atol": 0.2}),
    "exact": (lambda t: (t([1.0, 2.0]), t([1.1, 2.0])), {"rtol": 0, "atol": 0}),
    "exact floats": (lambda t: (1.0, 2.0), {"rtol": 0, "atol": 0}),
    "any dtype": (lambda t: (t([1.0]), t([1])), {"check_dtype": False}),
    "any number": (lambda t: (1, 1.0), {"check_dtype": False}),
    "strides": (lambda t: (t([[1.0, 1.0]] * 3), t([[1.0] * 3] * 2).T), {"check_stride": True}),
    "text": (lambda t: (t(1.0), t(2.0)), {"msg": "hello"}),
    "text made": (lambda t: (t(1.0), t(2.0)), {"msg": lambda text: "before " + text}),
}


def _outcome(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
            result = None
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
            result = type(error).__name__, re.sub(r"0x[0-9a-f]+", "0x", str(error))
    return result, [str(w.message) for w in caught if issubclass(w.category, FutureWarning)]


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name):
    def verdict(lib):
        return _outcome(lambda: lib.testing.assert_close(*PAIRS[name](lib.tensor)))

    assert verdict(mt) == verdict(torch)


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    make, options = OPTIONS[name]

    def verdict(lib):
        return _outcome(lambda: lib.testing.assert_close(*make(lib.tensor), **options))

    assert verdict(mt) == verdict(torch)


def test_older_form():
    def verdict(lib):
        return _outcome(lambda: lib.testing.assert_allclose(lib.tensor([1.0]), lib.tensor([2.0])))

    assert verdict(mt) == verdict(torch)


MADE = [
    *[((4,), {"dtype": d}) for d in ("float32", "float64", "bfloat16", "float16", "int64", "int8", "uint8", "bool")],
    *[((2, 2), {"dtype": d, "low": 0, "high": 3}) for d in ("float32", "int64", "int32", "int16", "bool")],
    ((5,), {"dtype": "int64", "low": 0, "high": 2, "exclude_zero": True}),
    ((2,), {"dtype": "float32", "requires_grad": True}),
    ((2, 3), {"dtype": "float32", "noncontiguous": True}),
    ((1,), {"dtype": "float32", "low": 3, "high": 1}),
    ((1,), {"dtype": "float32", "low": math.nan, "high": 1}),
    ((1,), {"dtype": "float32", "low": 1, "high": 1}),
    ((1,), {"dtype": "int8", "low": 200, "high": 300}),
    ((1,), {"dtype": "int64", "requires_grad": True}),
    ((), {"dtype": "float32"}),
    ((0,), {"dtype": "float32"}),
    ((3,), {"dtype": "float32", "low": -1e39, "high": 1e39}),
]


@pytest.mark.parametrize("index", range(len(MADE)))
def test_make_tensor(index):
    shape, options = MADE[index]

    def made(lib):
        lib.manual_seed(0)
        found = []
        arguments = {**options, "dtype": getattr(lib, options["dtype"]), "device": "cpu"}

        def call():
            tensor = lib.testing.make_tensor(shape, **arguments)
            found.extend([str(tensor.dtype), tensor.tolist(), tensor.stride(), tensor.requires_grad])

        return _outcome(call), found

    assert made(mt) == made(torch)
