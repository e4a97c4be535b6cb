"""Factories that take 0-d tensors for numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..meta.checks import check
from ..typing import TensorOrScalar


def between(name: str) -> Callable[..., Any]:
    """Return the function that makes `linspace` or `logspace` between bounds given as 0-d tensors."""

    def made(start: TensorOrScalar, end: TensorOrScalar, steps: int, *rest: object) -> Any:
        given = {"start": start, "end": end}
        tensors = {which: value for which, value in given.items() if isinstance(value, TensorBase)}
        check(
            all(not value.shape for value in tensors.values()),
            lambda: (
                f"{name} only supports 0-dimensional start and end tensors, but got "
                + " and ".join(f"{which} with {len(value.shape)} dimension(s)" for which, value in tensors.items())
                + "."
            ),
        )
        bounds = [cast(Any, value).item() if isinstance(value, TensorBase) else value for value in (start, end)]
        *extra, dtype, layout, device, _ = rest
        return getattr(aten, name)(*bounds, steps, *extra, dtype=dtype, layout=layout, device=device)

    return made
