"""Saving and loading what is no plain tensor: sparse tensors, generators, what cannot be saved; the texts of torch."""

from __future__ import annotations

import collections
import copy
import io
import pickle
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")


def saved(side: Any, value: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    side.save(value, stream, **options)
    return stream.getvalue()


def sparse(side: Any) -> Any:
    return side.sparse_coo_tensor([[0, 2, 2], [1, 0, 0]], [1.0, 2.0, 3.0], (3, 2))


@pytest.mark.parametrize("zip_format", [True, False])
@pytest.mark.parametrize("coalesced", [True, False])
def test_sparse_tensors_go_both_ways(zip_format: bool, coalesced: bool) -> None:
    for maker, taker in ((mt, torch), (torch, mt), (mt, mt)):
        source = sparse(maker).coalesce() if coalesced else sparse(maker)
        found = taker.load(io.BytesIO(saved(maker, source, _use_new_zipfile_serialization=zip_format)))
        assert found.is_sparse
        assert found.is_coalesced() is coalesced
        assert found.to_dense().tolist() == source.to_dense().tolist()


def test_sparse_tensors_are_copied() -> None:
    source = sparse(mt)
    for found in (copy.deepcopy(source), pickle.loads(pickle.dumps(source))):
        assert found.is_sparse
        assert found.to_dense().tolist() == source.to_dense().tolist()


@pytest.mark.parametrize("zip_format", [True, False])
def test_indices_outside_the_size_are_refused(zip_format: bool) -> None:
    wrong = torch.sparse_coo_tensor([[0, 9]], [1.0, 2.0], (2,), check_invariants=False)
    content = saved(torch, wrong, _use_new_zipfile_serialization=zip_format)
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        mt.load(io.BytesIO(content))


def test_generators_go_both_ways() -> None:
    for maker, taker in ((mt, torch), (torch, mt), (mt, mt)):
        generator = maker.Generator().manual_seed(7)
        found = taker.load(io.BytesIO(saved(maker, generator)), weights_only=False)
        assert taker.rand(3, generator=found).tolist() == maker.rand(3, generator=generator).tolist()


def edited(**records: bytes) -> bytes:
    source, target = zipfile.ZipFile(io.BytesIO(saved(torch, torch.ones(2)))), io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            archive.writestr(name, records.get(name.partition("/")[2], source.read(name)))
    return target.getvalue()


def with_version(version: bytes) -> Callable[[Any], Any]:
    content = edited(version=version)
    return lambda side: side.load(io.BytesIO(content))


def nameless() -> Any:
    kind = type("Kind", (), {})
    kind.__module__ = "no_such_module"
    return kind()


CASES: dict[str, Callable[[Any], Any]] = {
    **{f"version {version!r}": with_version(version) for version in (b"0\n", b"11\n", b"x\n", b"", b"3\n")},
    "no name": lambda side: side.save(side.ones(1), ""),
    "folder": lambda side: side.save(side.ones(1), "/tmp"),
    "unknown option": lambda side: side.load(io.BytesIO(edited()), wrong=1),
    "cpu for cuda": lambda side: side.serialization.validate_cuda_device("cpu"),
    "to mps": lambda side: side.load(io.BytesIO(edited()), map_location="mps"),
    "class of a missing module": lambda side: saved(side, nameless()),
    "function without a name": lambda side: saved(side, collections.namedtuple("Nowhere", "a")(1)),
    "generator is not allowed": lambda side: side.load(io.BytesIO(saved(side, side.Generator()))),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:pickle_load_args")
def test_texts(name: str) -> None:
    assert_same(lambda: CASES[name](mt), lambda: CASES[name](torch))


@pytest.mark.parametrize("indices", [[[0, 0], [0, 0]], [[1, 0], [0, 0]], [[0, 1], [0, 0]], [[0, 0], [1, 0]], [[], []]])
def test_entries_that_are_said_to_be_in_order(indices: Any) -> None:
    def made(side: Any) -> Any:
        values = side.ones(len(indices[0]))
        whole = side.tensor(indices, dtype=side.int64)
        return side.sparse_coo_tensor(whole, values, (3, 3), is_coalesced=True, check_invariants=True).to_dense()

    assert_same(lambda: made(mt), lambda: made(torch))
