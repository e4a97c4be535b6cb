"""`visualize_sharding`: which process has which rows and columns, as a table of text."""

from __future__ import annotations

import importlib.util
import itertools
from typing import Any

from mindtorch.distributed.tensor._layout import local_shape_and_offset
from mindtorch_storage.lazy_import import LazyModule

_tabulate = LazyModule("tabulate", "an optional library")

__all__ = ["visualize_sharding"]

Range = tuple[int, int]


def visualize_sharding(dtensor: Any, header: str = "", use_rich: bool = False) -> None:
    """Print a table of a spread tensor's parts, on the first process of its mesh; `tabulate` draws it."""
    mesh = dtensor.device_mesh
    if dtensor.numel() == 0:
        return
    if dtensor.ndim >= 3:
        raise RuntimeError("visualize sharding supports only 1D or 2D DTensor")
    place = mesh.get_coordinate()
    if place is None or any(place):
        return
    if use_rich and all(map(importlib.util.find_spec, ("rich", "matplotlib"))):
        raise NotImplementedError("visualize_sharding: use_rich=True is not offered; the table of `tabulate` is")
    if importlib.util.find_spec("tabulate") is None:
        raise ValueError("`visualize_sharding` requires either `rich` or `tabulate`.")
    print(_table(_parts(dtensor), mesh.device_type))


def _parts(dtensor: Any) -> dict[tuple[Range, Range], list[int]]:
    """Return the processes that have a range of rows and of columns."""
    mesh = dtensor.device_mesh
    found: dict[tuple[Range, Range], list[int]] = {}
    for place in itertools.product(*map(range, mesh.shape)):
        shape, offset = local_shape_and_offset(dtensor.shape, mesh, dtensor.placements, place)
        both = [(start, start + size - 1) for size, start in zip((*shape, 1), (*offset, 0), strict=True)][:2]
        found.setdefault((both[0], both[1]), []).append(int(mesh.mesh[place]))
    return found


def _table(parts: dict[tuple[Range, Range], list[int]], kind: str) -> str:
    rows, columns = (sorted({both[axis] for both in parts}) for axis in (0, 1))
    cells = [[_cell(parts.get((row, column), []), kind) for column in columns] for row in rows]
    headers = [f"Col {first}-{last}" for first, last in columns]
    drawn: str = _tabulate.tabulate(cells, headers=headers, showindex=[f"Row {first}-{last}" for first, last in rows])
    return drawn


def _cell(processes: list[int], kind: str) -> str:
    return f"{kind}:{','.join(map(str, processes))}" if processes else ""
