"""From checkpoints in folders to files of `torch.save`, and back."""

from __future__ import annotations

import os
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint.default_planner import DefaultLoadPlanner, _EmptyStateDictLoadPlanner
from mindtorch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter, _done
from mindtorch.distributed.checkpoint.metadata import (
    STATE_DICT_TYPE,
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    TensorProperties,
    TensorStorageMetadata,
)
from mindtorch.distributed.checkpoint.planner import LoadItemType, LoadPlan, LoadPlanner
from mindtorch.distributed.checkpoint.planner_helpers import narrow_tensor_by_index
from mindtorch.distributed.checkpoint.state_dict_loader import _load_state_dict
from mindtorch.distributed.checkpoint.state_dict_saver import _save_state_dict
from mindtorch.distributed.checkpoint.storage import StorageReader
from mindtorch.futures import Future

__all__ = [
    "BroadcastingTorchSaveReader",
    "DynamicMetaLoadPlanner",
    "dcp_to_torch_save",
    "torch_save_to_dcp",
]


class BroadcastingTorchSaveReader(StorageReader):
    """Reads a file of `torch.save` in one process, and gives the tensors to all."""

    def __init__(self, checkpoint_id: str | os.PathLike[str] | None = None, coordinator_rank: int = 0) -> None:
        self.checkpoint_id, self.coordinator_rank = checkpoint_id, coordinator_rank

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Return metadata without content: the file has none."""
        return Metadata(state_dict_metadata={})

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read the file and fill the state dict."""
        state: Any = None
        if self.is_coordinator:
            if self.checkpoint_id is None:
                raise AssertionError("checkpoint_id must be set before reading data")
            state = torch.load(self.checkpoint_id, map_location="cpu", weights_only=False)
        for item in plan.items:
            if item.type is LoadItemType.BYTE_IO:
                raise RuntimeError(f"Non-tensor value identified at {item.storage_index.fqn}. "
                                   "At this time BroadcastingTorchSaveReader only supports loading Tensors.")  # fmt: skip
            name = item.storage_index.fqn
            whole = (
                planner.state_dict[name] if isinstance(planner, DefaultLoadPlanner) else planner.resolve_tensor(item)
            )
            found = state[name].contiguous() if self.is_coordinator else torch.empty(whole.shape, dtype=whole.dtype)
            dist.broadcast(found, src=self.coordinator_rank)
            target = planner.resolve_tensor(item).detach()
            target.copy_(narrow_tensor_by_index(found, item.storage_offsets, item.lengths))
            planner.commit_tensor(item, target)
        return _done(None)

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Begin in every process."""
        self.is_coordinator = is_coordinator

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """Return the plan as it is."""
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """Return the plans as they are."""
        return plans

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Begin with a file."""
        self.checkpoint_id = checkpoint_id

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Return whether such a place is a file."""
        return os.path.isfile(checkpoint_id)


class DynamicMetaLoadPlanner(DefaultLoadPlanner):
    """Makes the metadata that a file lacks from the state dict to fill."""

    def set_up_planner(
        self, state_dict: STATE_DICT_TYPE, metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        """Begin with a state dict to fill."""
        super().set_up_planner(state_dict, metadata, is_coordinator)
        described: dict[str, TensorStorageMetadata | BytesStorageMetadata] = {}
        for key, value in self.state_dict.items():
            if not isinstance(value, torch.Tensor):
                raise RuntimeError(f"Non-tensor value identified at {key}. "
                                   f"At this time {type(self).__name__} only supports loading Tensors.")  # fmt: skip
            described[key] = TensorStorageMetadata(
                TensorProperties(dtype=value.dtype),
                value.size(),
                [ChunkStorageMetadata(torch.Size([0] * value.dim()), value.size())],
            )
        self.metadata = Metadata(state_dict_metadata=described)


def dcp_to_torch_save(dcp_checkpoint_dir: str | os.PathLike[str], torch_save_path: str | os.PathLike[str]) -> None:
    """Write what a checkpoint's folder holds into a file of `torch.save`."""
    state: STATE_DICT_TYPE = {}
    _load_state_dict(state, FileSystemReader(dcp_checkpoint_dir), planner=_EmptyStateDictLoadPlanner(), no_dist=True)
    torch.save(state, torch_save_path)


def torch_save_to_dcp(torch_save_path: str | os.PathLike[str], dcp_checkpoint_dir: str | os.PathLike[str]) -> None:
    """Write what a file of `torch.save` holds into a checkpoint's folder."""
    state = torch.load(torch_save_path, weights_only=False)
    _save_state_dict(state, FileSystemWriter(dcp_checkpoint_dir), no_dist=True)


adopt(globals())
