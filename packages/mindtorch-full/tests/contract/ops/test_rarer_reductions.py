"""Reductions in the corners that PyTorch's tests reach: complex extremes, references' own forms, unsigned results."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")
Lib = Any
EXTREMES = [1 + 2j, 3 + 4j, -1000 + 3j]
EXTREMES += [complex(real, imag) for real in (math.inf, -math.inf, math.nan, 1.0) for imag in (1.0, math.inf, math.nan)]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_logarithms_of_sums_of_complex_extremes(dtype: str) -> None:
    pairs = list(itertools.product(EXTREMES, repeat=2))
    results = []
    for lib in (mt, torch):
        given = lib.tensor(pairs, dtype=getattr(lib, dtype))
        found = [lib.logcumsumexp(given, 1), lib.logaddexp(given[:, 0], given[:, 1])]
        results.append([torch.tensor(one.tolist(), dtype=getattr(torch, dtype)) for one in found])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, equal_nan=True)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std", "var_mean", "std_mean", "amax", "amin"])
@pytest.mark.parametrize("dim", [None, 0, [0, 1], (-1,)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_references_take_any_dimensions(name: str, dim: Any, keepdim: bool) -> None:
    results = []
    for lib in (mt, torch):
        refs = __import__(f"{lib.__name__}._refs", fromlist=["_refs"])
        found = getattr(refs, name)(lib.arange(6.0).reshape(2, 3), dim, keepdim=keepdim)
        results.append([one.tolist() for one in (found if isinstance(found, tuple) else [found])])
    torch.testing.assert_close(*[[torch.tensor(one) for one in result] for result in results])


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_references_of_nothing(name: str) -> None:
    for lib in (mt, torch):
        refs = __import__(f"{lib.__name__}._refs", fromlist=["_refs"])
        with pytest.raises(RuntimeError, match="reducing over zero-size dimension"):
            getattr(refs, name)(lib.ones(0, 3), dim=0)


@pytest.mark.parametrize("lib", [mt, torch], ids=["mindtorch", "torch"])
def test_unsigned_numbers_are_compared_with_signed_ones(lib: Lib) -> None:
    lib.testing.assert_close(lib.tensor([5]), lib.tensor([5], dtype=lib.uint64), check_dtype=False)
    with pytest.raises(AssertionError):
        lib.testing.assert_close(lib.tensor([5]), lib.tensor([6], dtype=lib.uint64), check_dtype=False)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_histograms_into_another_dtype_are_refused(place: int, dtype: str) -> None:
    texts = []
    for lib in (mt, torch):
        out = [lib.empty(0, dtype=getattr(lib, dtype)) for _ in range(2)]
        out[place] = lib.empty(0, dtype=lib.float64 if dtype == "float32" else lib.float32)
        with pytest.raises(RuntimeError) as caught:
            lib.histogram(lib.ones(1, dtype=getattr(lib, dtype)), 1, out=tuple(out))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles_into_another_dtype_are_refused(name: str) -> None:
    for lib in (mt, torch):
        for q in (0.5, lib.tensor([0.5])):
            with pytest.raises(RuntimeError, match=r"quantile\(\) out tensor must be same dtype as the input tensor"):
                getattr(lib, name)(lib.ones(3), q, out=lib.empty(0, dtype=lib.int32))
