"""Where a process's part of a tensor lies."""

from collections.abc import Sequence
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.tensor._layout import local_shape_and_offset

__all__ = ["compute_local_shape_and_global_offset"]


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: Any, placements: Sequence[Any]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape of this process's part, and where in the tensor it begins."""
    return local_shape_and_offset(global_shape, mesh, placements)


adopt(globals())
