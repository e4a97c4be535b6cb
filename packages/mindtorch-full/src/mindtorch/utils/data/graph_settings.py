"""Settings of all pipes that a pipe reads: how they are divided among workers, whether and how they are shuffled."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from .datapipes.iter.sharding import SHARDING_PRIORITIES, _ShardingIterDataPipe
from .graph import DataPipe, DataPipeGraph, traverse_dps

__all__ = ["apply_random_seed", "apply_sharding", "apply_shuffle_settings", "get_all_graph_pipes"]


def get_all_graph_pipes(graph: DataPipeGraph) -> list[Any]:
    """Return the pipes of a graph, each once.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> graph = torch.utils.data.graph.traverse_dps(IterableWrapper(range(3)).map(str))
    >>> sorted(type(pipe).__name__ for pipe in torch.utils.data.graph_settings.get_all_graph_pipes(graph))
    ['IterableWrapperIterDataPipe', 'MapperIterDataPipe']
    """
    found: dict[int, Any] = {}

    def visit(part: DataPipeGraph) -> None:
        for key, (pipe, below) in part.items():
            if key not in found:
                found[key] = pipe
                visit(below)

    visit(graph)
    return list(found.values())


def _is_sharding_datapipe(datapipe: DataPipe) -> bool:
    return isinstance(datapipe, _ShardingIterDataPipe) or inspect.ismethod(getattr(datapipe, "apply_sharding", None))


def apply_sharding(
    datapipe: DataPipe, num_of_instances: int, instance_id: int, sharding_group: Any = SHARDING_PRIORITIES.DEFAULT
) -> DataPipe:
    """Tell the sharding pipes which worker they serve; RuntimeError for two of them in a row.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> pipe = IterableWrapper(range(5)).sharding_filter()
    >>> torch.utils.data.graph_settings.apply_sharding(pipe, num_of_instances=2, instance_id=0)
    ShardingFilterIterDataPipe
    >>> list(pipe)
    [0, 2, 4]
    """

    def visit(graph: DataPipeGraph, previous: Any) -> None:
        for pipe, below in graph.values():
            found = None
            if _is_sharding_datapipe(pipe):
                if previous is not None:
                    raise RuntimeError(
                        "Sharding twice on a single pipeline is likely unintended and will cause data loss. "
                        f"Sharding already applied to {previous} while trying to apply to {pipe}"
                    )
                taken = inspect.signature(pipe.apply_sharding).parameters
                if len(taken) < 3:
                    pipe.apply_sharding(num_of_instances, instance_id)
                else:
                    pipe.apply_sharding(num_of_instances, instance_id, sharding_group=sharding_group)
                found = pipe
            visit(below, found if found is not None else previous)

    visit(traverse_dps(datapipe), None)
    return datapipe


def _is_shuffle_datapipe(datapipe: Any) -> bool:
    return all(inspect.ismethod(getattr(datapipe, name, None)) for name in ("set_shuffle", "set_seed"))


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Turn shuffling on or off; a pipe without a shuffler gets one when it is to be on.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> pipe = IterableWrapper(range(5)).shuffle()
    >>> list(torch.utils.data.graph_settings.apply_shuffle_settings(pipe, shuffle=False))
    [0, 1, 2, 3, 4]
    """
    if shuffle is None:
        return datapipe
    shufflers = [pipe for pipe in get_all_graph_pipes(traverse_dps(datapipe)) if _is_shuffle_datapipe(pipe)]
    if not shufflers and shuffle:
        warnings.warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. Be aware that "
            "the default buffer size might not be sufficient for your task.",
            stacklevel=2,
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for pipe in shufflers:
        pipe.set_shuffle(shuffle)
    return datapipe


def _is_random_datapipe(datapipe: Any) -> bool:
    return inspect.ismethod(getattr(datapipe, "set_seed", None))


def apply_random_seed(datapipe: Any, rng: Any) -> Any:
    """Seed every pipe that has `set_seed`, each with the next number of a generator.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> pipe = IterableWrapper(range(5)).shuffle()
    >>> generator = torch.Generator().manual_seed(3)
    >>> first = list(torch.utils.data.graph_settings.apply_random_seed(pipe, generator))
    >>> first == list(torch.utils.data.graph_settings.apply_random_seed(pipe, torch.Generator().manual_seed(3)))
    True
    """
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if _is_random_datapipe(pipe):
            pipe.set_seed(int(torch.empty((), dtype=torch.int64).random_(generator=rng).item()))
    return datapipe


adopt(globals())
