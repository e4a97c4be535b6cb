"""Types of what the simulated chip computes with."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = "np.ndarray[Any, Any]"
"""Elements of a tensor."""

Scalar: TypeAlias = "bool | int | float | complex"
"""A number that an operator is given."""
