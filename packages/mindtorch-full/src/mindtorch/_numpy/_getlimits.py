"""Limits of types."""

from __future__ import annotations

from typing import Any

import mindtorch
from mindtorch._naming import adopt

from . import _dtypes


def finfo(dtyp: Any) -> Any:
    """Return the limits of a type of real numbers."""
    return mindtorch.finfo(_dtypes.dtype(dtyp).torch_dtype)


def iinfo(dtyp: Any) -> Any:
    """Return the limits of a type of integers."""
    return mindtorch.iinfo(_dtypes.dtype(dtyp).torch_dtype)


adopt(globals())
