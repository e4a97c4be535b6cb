"""Comparisons and logic."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel, ufunc

_function: Any
for _name, _function in {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}.items():
    kernel(f"{_name}.Tensor", f"{_name}.Scalar")(ufunc(_function))
for _name, _function in {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "logical_not": np.logical_not,
}.items():
    kernel(_name)(ufunc(_function))
