"""Which data pipes a pipe reads."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, TypeAlias

from mindtorch._naming import adopt

from .datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]

DataPipe: TypeAlias = IterDataPipe[Any] | MapDataPipe[Any]
DataPipeGraph: TypeAlias = dict[int, tuple[Any, Any]]


def _pipes_in(value: Any, only_pipes: bool, seen: set[int]) -> Iterator[Any]:
    """The pipes in a value, containers included; without `only_pipes` those that other objects keep as well."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, IterDataPipe | MapDataPipe):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _pipes_in(item, only_pipes, seen)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _pipes_in(item, only_pipes, seen)
    elif not only_pipes and not callable(value) and not isinstance(value, type | ModuleType):
        for item in getattr(value, "__dict__", {}).values():
            yield from _pipes_in(item, only_pipes, seen)


def _children(pipe: Any, only_pipes: bool) -> list[Any]:
    seen = {id(pipe)}
    return [found for value in pipe.__dict__.values() for found in _pipes_in(value, only_pipes, seen)]


def _graph(pipe: Any, only_pipes: bool, seen: set[int]) -> DataPipeGraph:
    if id(pipe) in seen:
        return {}
    seen.add(id(pipe))
    below: DataPipeGraph = {}
    for child in _children(pipe, only_pipes):
        below.update(_graph(child, only_pipes, set(seen)))
    return {id(pipe): (pipe, below)}


def traverse_dps(datapipe: Any) -> DataPipeGraph:
    """Return the pipes that a pipe keeps as attributes, by id, each with those it reads itself.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> pipe = IterableWrapper(range(3)).map(str)
    >>> ((node, below),) = torch.utils.data.graph.traverse_dps(pipe).values()
    >>> type(node).__name__, [type(inner).__name__ for inner, _ in below.values()]
    ('MapperIterDataPipe', ['IterableWrapperIterDataPipe'])
    """
    return traverse(datapipe, only_datapipe=True)


def traverse(datapipe: Any, only_datapipe: bool | None = None) -> DataPipeGraph:
    """Return the pipes that a pipe reads, by id; without `only_datapipe` those in its containers and objects too.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> pipe = IterableWrapper(range(3)).map(str)
    >>> [
    ...     type(node).__name__
    ...     for node, below in torch.utils.data.graph.traverse(pipe, only_datapipe=True).values()
    ... ]
    ['MapperIterDataPipe']
    """
    if not isinstance(datapipe, IterDataPipe | MapDataPipe):
        raise RuntimeError(f"Expected `IterDataPipe` or `MapDataPipe`, but {type(datapipe)} is found")
    return _graph(datapipe, bool(only_datapipe), set())


adopt(globals())
