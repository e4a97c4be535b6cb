"""Shifts by more bits than there are, and by negative numbers: what is left is torch's, also of unsigned integers."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("count", [7, 8, 9, 31, 33, 63, 64, 100])
def test_counts(dtype: str, count: int) -> None:
    def shifted(library: Any) -> list[Any]:
        kind = getattr(library, dtype)
        values = library.arange(-300, 300).to(kind)
        counts = library.full((600,), count, dtype=kind)
        both = [library.bitwise_left_shift(values, counts), library.bitwise_right_shift(values, counts)]
        return [one.tolist() for one in (*both, values >> count, values << count)]

    assert shifted(mindtorch) == shifted(torch)
