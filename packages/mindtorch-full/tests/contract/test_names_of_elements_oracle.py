"""Error texts name elements as C++ does, whichever function refuses another dtype."""

from __future__ import annotations

import pytest

import mindtorch
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

DTYPES = sorted(
    name
    for name, value in vars(torch).items()
    if isinstance(value, torch.dtype) and value is not torch.float32 and hasattr(mindtorch, name)
)


@pytest.mark.parametrize("name", DTYPES)
def test_set_names_both_dtypes(name: str) -> None:
    assert_torch_error(
        lambda: mindtorch.zeros(2).set_(mindtorch.empty(2, dtype=getattr(mindtorch, name))),
        lambda: torch.zeros(2).set_(torch.empty(2, dtype=getattr(torch, name))),
    )


@pytest.mark.parametrize("name", DTYPES)
def test_new_names_both_dtypes(name: str) -> None:
    assert_torch_error(
        lambda: mindtorch.zeros(2).new(mindtorch.empty(2, dtype=getattr(mindtorch, name))),
        lambda: torch.zeros(2).new(torch.empty(2, dtype=getattr(torch, name))),
    )
