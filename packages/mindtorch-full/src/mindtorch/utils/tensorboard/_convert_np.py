"""Values as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindtorch as torch

__all__ = ["make_np"]


def make_np(x: Any) -> np.ndarray[Any, Any]:
    """Return an array of a tensor's values, an array as it is, a number as an array of one.

    Raises:
        NotImplementedError: anything else.
    """
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    if isinstance(x, torch.Tensor):
        host = x.detach().cpu()
        # numpy has no bfloat16 of its own, and image and audio libraries know numpy's types only.
        return (host.to(torch.float16) if host.dtype == torch.bfloat16 else host).numpy()
    raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")
