"""`save` and `async_save`."""

from __future__ import annotations

import os
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from typing import Any

from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint.default_planner import DefaultSavePlanner
from mindtorch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from mindtorch.distributed.checkpoint.metadata import STATE_DICT_TYPE, Metadata
from mindtorch.distributed.checkpoint.planner import SavePlan, SavePlanner
from mindtorch.distributed.checkpoint.staging import AsyncStager, BlockingAsyncStager
from mindtorch.distributed.checkpoint.stateful import Stateful
from mindtorch.distributed.checkpoint.storage import StorageReader, StorageWriter, WriteResult
from mindtorch.distributed.checkpoint.utils import _api_bc_check, _DistWrapper

__all__ = ["AsyncCheckpointerType", "AsyncSaveResponse", "async_save", "save", "save_state_dict"]

_NO_WAY = "Cannot detect which StorageReader or StorageWriter to use. Please specify the storage_reader/storage_writer."
_groups: dict[dist.ProcessGroup | None, dist.ProcessGroup] = {}


class AsyncCheckpointerType(Enum):
    """What runs beside the program to write."""

    THREAD = "thread"
    PROCESS = "process"


@dataclass
class AsyncSaveResponse:
    """What `async_save` returns where the copy is made beside the program: when it is complete, and when it is written.

    >>> from concurrent.futures import Future
    >>> from torch.distributed.checkpoint.state_dict_saver import AsyncSaveResponse
    >>> AsyncSaveResponse(Future(), Future()).upload_completion.done()
    False
    """

    staging_completion: Future[None]
    upload_completion: Future[Any]


def storage_for(
    storage: StorageReader | StorageWriter | None, checkpoint_id: str | os.PathLike[str] | None, reader: bool = False
) -> Any:
    """Return the storage that is given, or one for a place."""
    if storage is not None:
        if checkpoint_id is not None:
            storage.reset(checkpoint_id)
        return storage
    if not checkpoint_id:
        raise RuntimeError("`checkpoint_id` must be specified if storage_reader/storage_writer is None.")
    kind: type[FileSystemReader | FileSystemWriter] = FileSystemReader if reader else FileSystemWriter
    if not kind.validate_checkpoint_id(checkpoint_id):
        raise RuntimeError(_NO_WAY)
    return kind(checkpoint_id)


def alone(no_dist: bool, intent: str) -> bool:
    """Return whether this process saves or loads for itself, which is told."""
    if no_dist or not dist.is_initialized():
        warnings.warn(
            "torch.distributed is disabled, unavailable or uninitialized, assuming the intent is to "
            f"{intent} in a single process.",
            stacklevel=3,
        )
        return True
    return False


@_api_bc_check
def save(
    state_dict: STATE_DICT_TYPE,
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: StorageWriter | None = None,
    planner: SavePlanner | None = None,
    process_group: dist.ProcessGroup | None = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Metadata:
    """Write a state dict into a folder: each process its parts, everything once.

    torch.distributed.checkpoint.save({"model": model.state_dict()}, checkpoint_id="folder")
    """
    single = alone(no_dist, "save")
    writer = storage_for(storage_writer, checkpoint_id)
    return _save_state_dict(
        state_dict=_states(state_dict),
        storage_writer=writer,
        process_group=process_group,
        no_dist=single,
        planner=planner,
        use_collectives=use_collectives,
    )


def save_state_dict(
    state_dict: STATE_DICT_TYPE,
    storage_writer: StorageWriter,
    process_group: dist.ProcessGroup | None = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: SavePlanner | None = None,
) -> Metadata:
    """Write a state dict; the former name of `save`."""
    warnings.warn("`save_state_dict` is deprecated and will be removed in future versions.Please use `save` instead.",
                  FutureWarning, stacklevel=2)  # fmt: skip
    storage_writer.reset()
    return _save_state_dict(state_dict, storage_writer, process_group, coordinator_rank, no_dist, planner)


def _states(state_dict: STATE_DICT_TYPE) -> STATE_DICT_TYPE:
    """Return what objects with states give."""
    return {key: value.state_dict() if isinstance(value, Stateful) else value for key, value in state_dict.items()}


def _save_state_dict(
    state_dict: STATE_DICT_TYPE,
    storage_writer: StorageWriter,
    process_group: dist.ProcessGroup | None = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: SavePlanner | None = None,
    use_collectives: bool = True,
) -> Metadata:
    group = _DistWrapper(process_group, not no_dist, coordinator_rank)
    maker = planner if planner is not None else DefaultSavePlanner()
    made: list[Metadata] = []

    def local_step() -> SavePlan:
        maker.set_up_planner(state_dict, storage_writer.storage_meta(), group.is_coordinator)
        storage_writer.set_up_storage_writer(group.is_coordinator, rank=group.rank, use_collectives=use_collectives)
        return storage_writer.prepare_local_plan(maker.create_local_plan())

    def global_step(plans: list[SavePlan]) -> list[SavePlan]:
        all_plans, metadata = maker.create_global_plan(plans)
        made.append(metadata)
        return storage_writer.prepare_global_plan(all_plans)

    def finish(results: list[list[WriteResult]]) -> Metadata:
        storage_writer.finish(metadata=made[0], results=results)
        return made[0]

    def write() -> list[WriteResult]:
        written = storage_writer.write_data(maker.finish_plan(plan), maker)
        written.wait()
        return written.value()

    if use_collectives:
        plan = group.reduce_scatter("plan", local_step, global_step)
        return group.all_reduce("write", write, finish)
    plan = global_step([local_step()])[0]
    metadata = finish([write()])
    group.barrier()
    return metadata


def _own_group(process_group: dist.ProcessGroup | None) -> dist.ProcessGroup | None:
    """Return a group for the writing thread: collectives of the program and of the thread must not mix."""
    if not dist.is_initialized():
        return None
    chosen = process_group if process_group is not None else dist.group.WORLD
    if chosen not in _groups:
        _groups.clear()
        _groups[chosen] = dist.new_group(dist.get_process_group_ranks(chosen), backend="gloo")
    return _groups[chosen]


def async_save(
    state_dict: STATE_DICT_TYPE,
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: StorageWriter | None = None,
    planner: SavePlanner | None = None,
    process_group: dist.ProcessGroup | None = None,
    async_checkpointer_type: AsyncCheckpointerType = AsyncCheckpointerType.THREAD,
    async_stager: AsyncStager | None = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Future[Metadata] | AsyncSaveResponse:
    """Copy a state dict and write the copy in a thread; the future has what `save` returns.

    A stager makes the copy, else the storage where it is one; where that gives a future of the copy, both are returned.
    """
    if async_checkpointer_type is not AsyncCheckpointerType.THREAD:
        raise NotImplementedError("async_save: processes that write are not offered; a thread writes")
    stager = async_stager
    if stager is None:
        stager = storage_writer if isinstance(storage_writer, AsyncStager) else BlockingAsyncStager()
    copied = stager.stage(_states(state_dict))
    group = None if no_dist else _own_group(process_group)

    def write() -> Metadata:
        found: Metadata = save(
            copied.result() if isinstance(copied, Future) else copied,
            checkpoint_id=checkpoint_id,
            storage_writer=storage_writer,
            planner=planner,
            process_group=group,
            no_dist=no_dist,
            use_collectives=use_collectives,
        )
        return found

    pool = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
    future = pool.submit(write)
    pool.shutdown(wait=False)
    if isinstance(copied, Future):
        return AsyncSaveResponse(_completion(copied), future)
    if stager.should_synchronize_after_execute:
        stager.synchronize_staging()
    return future


def _completion(future: Future[Any]) -> Future[None]:
    """Return a future without the value of another."""
    done: Future[None] = Future()

    def tell(ended: Future[Any]) -> None:
        error = ended.exception()
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    future.add_done_callback(tell)
    return done


adopt(globals())
