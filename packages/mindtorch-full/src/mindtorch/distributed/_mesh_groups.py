"""The groups of a mesh: one for every line along every dimension, each with a backend that may be its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

from mindtorch import distributed as dist
from mindtorch.distributed import _mesh_layout as layouts
from mindtorch.distributed._backend_base import Backend
from mindtorch.distributed._mesh_layout import Levels

OwnBackend: TypeAlias = tuple[str | None, Any]
PLAIN: OwnBackend = (None, None)
"""The world's backend."""


def make_groups(
    dims: Sequence[Levels], ranks: Sequence[int], names: Sequence[str], backends: Sequence[OwnBackend]
) -> list[Any]:
    """Return this process's group of each dimension, None where it has none."""
    return [_make_lines(*each, ranks) for each in zip(dims, names, backends, strict=True)]


def _make_lines(levels: Levels, name: str, backend: OwnBackend, ranks: Sequence[int]) -> Any:
    """Make a group of every line along a dimension."""
    if layouts.size(levels) == dist.get_world_size() and backend == PLAIN:
        return dist.distributed_c10d._get_default_group()
    kind, options = backend
    timeout = options._timeout if options else None
    mine = None
    for line in layouts.parts([levels], ranks):
        group = dist.new_group(line, timeout, kind, options, group_desc=f"mesh_{name}")
        if dist.get_rank() in line:
            mine = group
    return mine


def _normalize_backend_override(
    backend_override: dict[int | str, Any], ndim: int, mesh_dim_names: tuple[str, ...] | None = None
) -> Iterator[OwnBackend]:
    """Return each dimension's backend and options, from names or numbers of dimensions; None where nothing is said."""
    left = dict(backend_override)
    for dim, name in zip_longest(range(ndim), mesh_dim_names or ()):
        if name is not None and name in left and dim in left:
            raise RuntimeError(f"Found redundant dim index {dim} and name {name} in backend_override")
        chosen = left.pop(name, None) if name in left else left.pop(dim, None)
        if isinstance(chosen, str):
            yield (chosen, None)
        elif isinstance(chosen, Backend.Options):
            yield (None, chosen)
        else:
            yield chosen or PLAIN
    if left:
        raise RuntimeError(
            f"Found invalid keys in backend_override: got {list(left)}, expected integers in range [0, {ndim}) or one of "
            f"{mesh_dim_names or ()}"
        )
