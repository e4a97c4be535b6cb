"""`T`, `mT`, `H`, `mH` and `adjoint` beside torch: values, gradients' nodes, refusals, and what is said once."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_dispatch import warn_once

torch = pytest.importorskip("torch", reason="oracle")


def _shown(m: Any, shape: tuple[int, ...], name: str, dtype: str) -> tuple[Any, list[str]]:
    x = m.ones(shape, dtype=getattr(m, dtype)) * (1 + 2j if dtype == "complex64" else 3)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            answer = getattr(x, name)
            answer = answer() if callable(answer) else answer
            seen: Any = answer.resolve_conj().tolist(), answer.stride()
        except RuntimeError as error:
            seen = str(error)
    return seen, [str(one.message).partition(" (Triggered")[0] for one in given]


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("name", ["T", "mT", "H", "mH", "adjoint", "t"])
@pytest.mark.parametrize("shape", [(), (2,), (2, 3), (1, 2, 3)])
def test_as_torch(shape: tuple[int, ...], name: str, dtype: str) -> None:
    torch.set_warn_always(True)
    warn_once.set_always(True)
    try:
        assert _shown(mt, shape, name, dtype) == _shown(torch, shape, name, dtype)
    finally:
        torch.set_warn_always(False)
        warn_once.set_always(False)
