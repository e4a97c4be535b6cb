"""`load`."""

from __future__ import annotations

import os
import warnings
from typing import Any

from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint.default_planner import DefaultLoadPlanner, _EmptyStateDictLoadPlanner
from mindtorch.distributed.checkpoint.metadata import STATE_DICT_TYPE, Metadata
from mindtorch.distributed.checkpoint.planner import LoadPlan, LoadPlanner
from mindtorch.distributed.checkpoint.state_dict_saver import alone, storage_for
from mindtorch.distributed.checkpoint.stateful import Stateful
from mindtorch.distributed.checkpoint.storage import StorageReader
from mindtorch.distributed.checkpoint.utils import _api_bc_check, _DistWrapper

__all__ = ["load", "load_state_dict"]


@_api_bc_check
def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: StorageReader | None = None,
    planner: LoadPlanner | None = None,
    process_group: dist.ProcessGroup | None = None,
    no_dist: bool = False,
) -> None:
    """Fill a state dict from a folder, in place: each process reads its parts, however many processes wrote them.

    state = {"model": model.state_dict()}
    torch.distributed.checkpoint.load(state, checkpoint_id="folder")
    model.load_state_dict(state["model"])
    """
    single = alone(no_dist, "load")
    reader = storage_for(storage_reader, checkpoint_id, reader=True)
    keys = sorted(state_dict)
    states = {key: v.state_dict() if isinstance(v := state_dict[key], Stateful) else v for key in keys}
    _load_state_dict(states, reader, process_group, no_dist=single, planner=planner)
    for key in keys:
        value = state_dict[key]
        if isinstance(value, Stateful):
            value.load_state_dict(states[key])
        else:
            state_dict[key] = states[key]


def load_state_dict(
    state_dict: dict[str, Any],
    storage_reader: StorageReader,
    process_group: dist.ProcessGroup | None = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: LoadPlanner | None = None,
) -> None:
    """Fill a state dict; the former name of `load`."""
    warnings.warn("`load_state_dict` is deprecated and will be removed in future versions. Please use `load` instead.",
                  FutureWarning, stacklevel=2)  # fmt: skip
    storage_reader.reset()
    _load_state_dict(state_dict, storage_reader, process_group, coordinator_rank, no_dist, planner)


def _metadata(reader: StorageReader, rank: int) -> tuple[Metadata, bool]:
    """Return the metadata of all, or this process's own, and which it is."""
    try:
        return reader.read_metadata(), True
    except FileNotFoundError as missing:
        try:
            return reader.read_metadata(rank=rank), False
        except FileNotFoundError as own:
            raise AssertionError(
                f"metadata is None; global metadata read failed: {missing}; rank local metadata read failed: {own}"
            ) from None


def _load_state_dict(
    state_dict: STATE_DICT_TYPE,
    storage_reader: StorageReader,
    process_group: dist.ProcessGroup | None = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: LoadPlanner | None = None,
) -> None:
    group = _DistWrapper(process_group, not no_dist, coordinator_rank)
    maker = planner if planner is not None else DefaultLoadPlanner()

    def local_step() -> LoadPlan:
        metadata, common = _metadata(storage_reader, group.rank)
        maker.set_up_planner(state_dict, metadata, group.is_coordinator)
        storage_reader.set_up_storage_reader(metadata, group.is_coordinator, rank=group.rank, use_collectives=common)
        return storage_reader.prepare_local_plan(maker.create_local_plan())

    def global_step(plans: list[LoadPlan]) -> list[LoadPlan]:
        return storage_reader.prepare_global_plan(maker.create_global_plan(plans))

    plan = group.reduce_scatter("plan", local_step, global_step)

    def read() -> None:
        storage_reader.read_data(maker.finish_plan(plan), maker).wait()

    group.all_gather("read", read)


def _load_state_dict_from_keys(
    keys: set[str] | str | None = None,
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: StorageReader | None = None,
    process_group: dist.ProcessGroup | None = None,
) -> dict[str, Any]:
    """Return all that a checkpoint has, or what is below some keys, in this process."""
    single = alone(False, "load")
    reader = storage_for(storage_reader, checkpoint_id, reader=True)
    state: dict[str, Any] = {}
    wanted = {keys} if isinstance(keys, str) else keys
    _load_state_dict(
        state, reader, process_group, no_dist=single, planner=_EmptyStateDictLoadPlanner(keys=wanted or None)
    )
    return state


adopt(globals())
