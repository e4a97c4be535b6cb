"""The way that is always right: one call per slice of the batch."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..call import aten
from ..frames import frames_to_caller
from ..table import OpRow
from ..typing import Tensor
from .levels import Batch, loop
from .steps import give_up, invoke


class _Shown:
    """Which ops this process was told of that they are computed slice by slice; with `always`, each call tells.

    Where it is not `allowed`, such a call raises.
    """

    def __init__(self) -> None:
        self.ops: set[str] = set()
        self.always = False
        self.allowed = True


_shown = _Shown()


def warnings_shown() -> _Shown:
    """Return what was warned of, and whether each call warns."""
    return _shown


def _warn(row: OpRow) -> None:
    name = row.aten_name
    if name in _shown.ops and not _shown.always:
        return
    _shown.ops.add(name)
    warnings.warn(
        f"There is a performance drop because we have not yet implemented the batching rule for {name}. Please file us an "
        "issue on GitHub so that we can prioritize its implementation.",
        UserWarning,
        stacklevel=frames_to_caller(),
    )


def _slice(value: Tensor | int, dim: int | None, number: int) -> Any:
    if isinstance(dim, list):
        return [_slice(item, at, number) for item, at in zip(value, dim, strict=True)]
    return value if dim is None else aten.select(value, dim, number)


def lost_gradient(name: str) -> NotImplementedError:
    """Return the error for a write whose history the written tensor cannot hold."""
    return NotImplementedError(
        f"{name}: a tensor that is differentiated inside of vmap is written into one that does not belong to the batch, and "
        "whose gradient would be lost; use an operator that returns a new tensor"
    )


def looped(row: OpRow, batch: Batch, values: Sequence[Any], dims: Sequence[Any]) -> tuple[Any, Any]:
    """Return the results of one call per slice, stacked along a new first dimension.

    Raises RuntimeError for ops whose results are no fresh tensors: views of slices cannot be stacked.
    """
    give_up()
    if not _shown.allowed:
        raise RuntimeError(f"{row.aten_name} hit the vmap fallback which is currently disabled")
    returns = row.schema.returns
    written = row.written
    if not returns or (not written and any(one.alias is not None for one in returns)):
        raise RuntimeError(
            f"Batching rule not implemented for {row.aten_name}; the fallback path doesn't work on out= or view ops."
        )
    if any("Tensor" not in str(one.type) for one in returns):
        raise RuntimeError(f"Batching rule not implemented for {row.aten_name}. We could not generate a fallback.")
    if not batch.size:
        raise RuntimeError(
            f"Batching rule not implemented for {row.aten_name}. The fallback path does not support vmap over dims of size 0."
        )
    _warn(row)
    with loop(batch.randomness):
        results = [
            invoke(row, [_slice(value, dim, number) for value, dim in zip(values, dims, strict=True)])
            for number in range(batch.size)
        ]
    if written:
        return values[0], dims[0]
    return _stacked(results)


def _stacked(results: list[Any]) -> tuple[Any, Any]:
    if not isinstance(results[0], (tuple, list)):
        return aten.stack(results), 0
    columns = [
        None if any(one is None for one in column) else aten.stack(list(column))
        for column in zip(*results, strict=True)
    ]
    return columns, [0] * len(columns)
