"""Matrix products through numpy's BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel


@kernel("mm")
def mm(out: Any, self: Any, mat2: Any) -> None:
    """`self @ mat2`."""
    np.matmul(self, mat2, out=out)
