"""The program that damages checkpoints finds what it is meant to find, and `load` withstands a part of it."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing import mutations


def test_damaged_checkpoints_are_refused_or_give_what_was_saved() -> None:
    result = mutations.run(150, seed=1)
    assert result["findings"] == []
    assert sum(result["counts"].values()) == 150


@pytest.mark.parametrize("kind", mutations.KINDS)
def test_damage_changes_the_file_and_follows_the_seed(kind: str) -> None:
    for name, (data, _) in mutations.originals().items():
        first, again = (mutations.KINDS[kind](data, random.Random(3)) for _ in range(2))
        assert first == again, name
        assert first != data, name


def test_findings_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = mutations.Batch(0)
    data, _ = mutations.originals()["nested"]

    def loads_something_else(file: Any, **options: Any) -> Any:
        return {"a": 1}

    def runs_code(file: Any, **options: Any) -> Any:
        mutations.Canary()()
        raise RuntimeError

    real = mt.load
    for fake, expected in ((loads_something_else, mutations.CHANGED), (runs_code, mutations.RAN), (real, "unchanged")):
        monkeypatch.setattr(mt, "load", fake)
        assert batch._outcome(io.BytesIO(data), False, "nested", len(data)) == expected


def test_the_page_names_every_kind_of_damage() -> None:
    text = mutations.page({"count": 1, "seed": 0, "counts": {"truncated|refused": 1}, "findings": [], "peak": 0})
    assert all(f"| {kind} |" in text for kind in mutations.KINDS)


def test_sizes_without_data_are_refused() -> None:
    for body in (
        b"cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
        b"ctorch.storage\nUntypedStorage\nJ\xff\xff\xff\x7f\x85R.",
    ):
        with pytest.raises(Exception, match=r"of a given size|no checkpoint needs it"):
            mt.load(io.BytesIO(b"\x80\x02" + body))
