"""`torch.cdist`, whose way of computing has names in Python and numbers in the op."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch_dispatch.call import aten

from .._naming import adopt

_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> torch.Tensor:
    """Return the p-norm distances (*, P, R) between the rows of (*, P, M) and (*, R, M).

    The modes choose between two ways to the Euclidean distance: a product of matrices, which is faster, where there are
    more than 25 rows or always, and sums of squared differences, which are more exact.

    >>> torch.cdist(torch.tensor([[0., 0.]]), torch.tensor([[3., 4.]]))
    tensor([[5.]])
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return aten.cdist(x1, x2, p, _MODES[compute_mode])


adopt(globals(), "torch.functional")
