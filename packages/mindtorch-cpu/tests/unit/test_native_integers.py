"""Integers that no C integer holds, given straight to native kernels: they decline, and leave no error behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")

LINE, PLACES = np.ones(3, np.float32), np.zeros(3, np.int64)

CALLS = {
    "topk": ((np.empty(1, np.float32), np.empty(1, np.int64)), LINE, 1),
    "sort": ((np.empty(3, np.float32), np.empty(3, np.int64)), LINE),
    "gather": (np.empty(3, np.float32), LINE),
    "glu": (np.empty(2, np.float32), np.ones(4, np.float32)),
    "cumsum": (np.empty(3, np.float32), LINE),
    "_softmax": (np.empty(3, np.float32), LINE),
}
REST: dict[str, tuple[Any, ...]] = {"topk": (True, True), "sort": (False,), "gather": (PLACES,), "_softmax": (False,)}


@pytest.mark.parametrize("dim", [2**70, -(2**70), 2**63])
@pytest.mark.parametrize("name", CALLS)
def test_dimensions(name: str, dim: int) -> None:
    """The kernel is declined as for any dimension that is none."""
    with pytest.raises(AssertionError, match="left this to numpy's"):
        native_kernel(name)(*CALLS[name], dim, *REST.get(name, ()))
