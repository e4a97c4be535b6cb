"""How close is close, by dtype."""

from __future__ import annotations

from typing import Any

import mindtorch as torch

from ._messages import ErrorMeta

_PRECISIONS: dict[Any, tuple[float, float]] = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (1e-3, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
#: The tolerances of the deprecated `assert_allclose`.
LEGACY_PRECISIONS: dict[Any, tuple[float, float]] = {
    torch.float16: (1e-3, 1e-3),
    torch.float32: (1e-4, 1e-5),
    torch.float64: (1e-5, 1e-8),
}


def default_tolerances(
    *inputs: Any, dtype_precisions: dict[Any, tuple[float, float]] | None = None
) -> tuple[float, float]:
    """The relative and absolute tolerance for tensors or dtypes: the widest among them."""
    dtypes = []
    for value in inputs:
        if isinstance(value, torch.Tensor):
            dtypes.append(value.dtype)
        elif isinstance(value, torch.dtype):
            dtypes.append(value)
        else:
            raise TypeError(f"Expected a torch.Tensor or a torch.dtype, but got {type(value)} instead.")
    table = dtype_precisions or _PRECISIONS
    rtols, atols = zip(*(table.get(dtype, (0.0, 0.0)) for dtype in dtypes), strict=True)
    return max(rtols), max(atols)


def get_tolerances(
    *inputs: Any, rtol: float | None, atol: float | None, id: tuple[Any, ...] = ()
) -> tuple[float, float]:
    """The given tolerances; the default ones if neither is given."""
    if (rtol is None) ^ (atol is None):
        raise ErrorMeta(
            ValueError,
            f"Both 'rtol' and 'atol' must be either specified or omitted, "
            f"but got no {'rtol' if rtol is None else 'atol'}.",
            id=id,
        )
    if rtol is not None and atol is not None:
        return rtol, atol
    return default_tolerances(*inputs)
