"""What a data loader does for data pipes: they travel wrapped, are divided among the workers and shuffled alike."""

from __future__ import annotations

from typing import Any

import mindtorch as torch

from .datapipes.datapipe import (
    IterDataPipe,
    MapDataPipe,
    _IterDataPipeSerializationWrapper,
    _MapDataPipeSerializationWrapper,
)
from .graph_settings import apply_random_seed, apply_sharding, apply_shuffle_settings


def wrapped(dataset: Any, shuffle: bool | None) -> Any:
    """Return the dataset, a pipe as one that can travel; its shufflers, where it has some, are turned on or off."""
    if isinstance(dataset, IterDataPipe):
        made = _IterDataPipeSerializationWrapper(dataset)
        apply_shuffle_settings(made, shuffle)  # as in torch, a shuffler made for a pipe that has none goes unused
        return made
    return _MapDataPipeSerializationWrapper(dataset) if isinstance(dataset, MapDataPipe) else dataset


def is_stream(dataset: Any) -> bool:
    """Whether this is a pipe that is read as a stream."""
    return isinstance(dataset, IterDataPipe)


def draw_seed(dataset: Any, generator: Any) -> int | None:
    """Draw the seed that all workers shuffle a pass with; None for what is no stream of pipes."""
    if not is_stream(dataset):
        return None
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())


def seed_pipes(dataset: Any, seed: int | None) -> None:
    """Seed what shuffles in the pipes."""
    if seed is not None:
        generator = torch.Generator()
        generator.manual_seed(seed)
        apply_random_seed(dataset, generator)


def divide(dataset: Any, count: int, number: int) -> None:
    """Let the pipes yield what concerns worker `number` of `count`, in this process of however many there are."""
    if not isinstance(dataset, IterDataPipe | MapDataPipe):
        return
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        world = distributed.get_world_size()
        count, number = count * world, number * world + distributed.get_rank()
    apply_sharding(dataset, count, number)
