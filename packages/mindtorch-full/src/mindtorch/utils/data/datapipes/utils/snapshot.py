"""Pipes that are read again up to where they were."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.utils.data.datapipes._iteration import _SnapshotState
from mindtorch.utils.data.datapipes.datapipe import IterDataPipe
from mindtorch.utils.data.graph_settings import apply_random_seed

__all__: list[str] = []


def _simple_graph_snapshot_restoration(datapipe: IterDataPipe[Any], n_iterations: int, rng: Any = None) -> None:
    """Read a pipe, and those it stands on, `n_iterations` samples far; its next iterator gives those that follow.

    `rng` is the generator, as it was in the beginning, that shuffles.

    Raises:
        RuntimeError: the pipe has fewer samples, or was restored already and not read since.
    """
    pipe: Any = datapipe
    if pipe._snapshot_state is _SnapshotState.Restored:
        raise RuntimeError(
            "Snapshot restoration cannot be applied. You can only restore simple snapshot to the graph if your graph has not "
            "been restored."
        )
    pipe.reset()
    apply_random_seed(pipe, rng)
    source = iter(pipe)
    for _ in range(n_iterations):
        try:
            next(source)
        except StopIteration as end:
            raise RuntimeError(
                f"Fast-forward {pipe} by {n_iterations} iterations exceeds the number of samples available."
            ) from end
    pipe._fast_forward_iterator, pipe._snapshot_state = source, _SnapshotState.Restored


adopt(globals())
