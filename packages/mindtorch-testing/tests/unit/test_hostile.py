"""The corpus of hostile files finds what it is meant to find, and `load` withstands a part of it."""

from __future__ import annotations

import io
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing.hostile import __main__ as hostile
from mindtorch_testing.hostile import files, judge
from mindtorch_testing.record import Record

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the corpus runs in forked processes")


def test_a_part_of_the_corpus_is_withstood() -> None:
    result = hostile.run(420, seed=1)
    assert result["findings"] == []
    assert sum(result["counts"].values()) == 420
    assert {name.partition("|")[0] for name in result["counts"]} == set(files.FAMILIES)


def test_a_run_that_was_stopped_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "record"
    hostile.run(5, seed=1, record=Record(path))
    result = hostile.run(12, seed=1, record=Record(path))
    assert result["counts"] == hostile.run(12, seed=1)["counts"]
    assert result["done"] == {"1": 12}
    assert hostile.run(12, seed=2, record=Record(path)) == result
    assert hostile.numbers_of(3, 2, files.FAMILIES[1]) == [1 + len(files.FAMILIES) * n for n in (2, 3, 4)]


def test_a_number_is_always_the_same_file() -> None:
    for number in range(len(files.FAMILIES) * 3):
        assert files.make(7, number) == files.make(7, number)
        assert files.make(7, number).data != files.make(8, number).data or number


def test_the_good_file_loads() -> None:
    value = mt.load(io.BytesIO(files.good()))
    assert [type(item).__name__ for item in value] == ["Tensor", "Parameter", "Tensor", "Tensor", "Tensor", "Tensor"]


def _fault(kind: str) -> Any:
    def load(file: Any, **options: Any) -> Any:
        if kind == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == "ran: the canary":
            judge.canary()
        if kind == "ran: opened":
            Path(os.devnull).read_bytes()
        if kind == "memory":
            return bytearray(os.urandom(1) * (200 << 20))
        if kind == "error: TypeError":
            raise TypeError("no")
        if kind == "tensor outside":
            tensor = mt.ones(4)
            tensor._sig = tensor._sig.on(mt.empty(1).expand(9).clone()._spec)
            tensor.untyped_storage()
            return tensor
        return None

    return load


KINDS = ("crash", "ran: the canary", "ran: opened", "memory", "error: TypeError", "tensor outside")


@pytest.mark.parametrize("kind", KINDS)
def test_each_finding_is_found(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(mt, "load", _fault(kind))
    results = list(hostile.judged(0, [0, 1]))
    assert [result["number"] for result in results] == [0, 1]
    for result in results:
        assert result["findings"], result
        assert any(text.startswith(kind) for text in result["findings"]), result


def test_a_hang_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "SECONDS", 1)

    def load(file: Any, **options: Any) -> Any:
        while True:
            pass

    monkeypatch.setattr(mt, "load", load)
    (result,) = hostile.judged(0, [0])
    assert result["findings"][0].startswith("hang")


def test_the_page_names_every_family() -> None:
    result = {
        "count": 1,
        "seeds": ["0"],
        "counts": {},
        "errors": {},
        "findings": [],
        "memory": [0, 0],
        "seconds": [0.0, 0],
    }
    assert all(f"| {family} |" in hostile.page(result) for family in files.FAMILIES)
