"""Numbers written into tensors that cannot hold them are refused as in torch, and the largest ones that fit are kept."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch as mt

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")

CALLS = """
T.full((2,), v, dtype=T.D)
T.full((0,), v, dtype=T.D)
T.ones(2, dtype=T.D).new_full((2,), v)
T.full_like(T.ones(2, dtype=T.D), v)
T.ones(2, dtype=T.D).fill_(v)
T.scalar_tensor(v, dtype=T.D)
T.ones(2, dtype=T.D).__setitem__(0, v)
T.ones(2, dtype=T.D).__setitem__(T.tensor([0]), v)
T.ones(2, dtype=T.D).__setitem__(T.tensor([True, False]), v)
T.ones(2, dtype=T.D).index_fill(0, T.tensor([0]), v)
T.ones(2, dtype=T.D).index_fill(0, T.empty(0, dtype=T.int64), v)
T.ones(2, dtype=T.D).scatter(0, T.tensor([0]), v)
T.ones(2, dtype=T.D).masked_fill(T.tensor([True, False]), v)
T.ones(2, 2, dtype=T.D).fill_diagonal_(v)
T.constant_pad_nd(T.ones(2, dtype=T.D), (1, 1), v)
T.nn.init.constant_(T.ones(2, dtype=T.D), v)
""".strip().splitlines()

VALUES: dict[str, list[Any]] = {
    "float32": [1e300, -3.5e38, 3.4028235677973366e38, 3.4028234663852886e38, float("inf"), float("nan")],
    "float16": [65505.0, -1e9, 65504.0, float("-inf")],
    "bfloat16": [1e39, -1e300, 3.3895313892515355e38],
    "float64": [1e308],
    "int32": [2**31, -(2**31), float("inf"), 2.5],
    "uint8": [300, -255, -256],
    "complex64": [1e300, 1 + 1e300j, 2j],
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("dtype", "value"), [(dtype, value) for dtype, values in VALUES.items() for value in values])
def test_as_torch(call: str, dtype: str, value: Any) -> None:
    def run(T: Any) -> Any:
        return eval(call.replace("T.D", f"T.{dtype}"), {"T": T, "v": value})

    assert_same(lambda: run(mt), lambda: run(torch))
