"""The planners that `save` and `load` use by themselves."""

from __future__ import annotations

import dataclasses
import io
import itertools
import math
from collections import ChainMap
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint._dedup_save_plans import dedup_save_plans
from mindtorch.distributed.checkpoint._nested_dict import FLATTEN_MAPPING, flatten_state_dict
from mindtorch.distributed.checkpoint._traverse import set_element
from mindtorch.distributed.checkpoint.metadata import (
    STATE_DICT_TYPE,
    STORAGE_TYPES,
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorStorageMetadata,
)
from mindtorch.distributed.checkpoint.planner import (
    LoadPlan,
    LoadPlanner,
    ReadItem,
    SavePlan,
    SavePlanner,
    WriteItem,
    WriteItemType,
)
from mindtorch.distributed.checkpoint.planner_helpers import (
    _create_read_items,
    _create_write_items,
    _describing_items,
    _init_state_dict,
    narrow_tensor_by_index,
)
from mindtorch.distributed.checkpoint.resharding import _check_shard_metadata_pair_overlap
from mindtorch.distributed.checkpoint.utils import find_state_dict_object
from mindtorch.distributed.tensor import DTensor
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "DefaultLoadPlanner",
    "DefaultSavePlanner",
    "create_default_global_load_plan",
    "create_default_global_save_plan",
    "create_default_local_load_plan",
    "create_default_local_save_plan",
]


class DefaultSavePlanner(SavePlanner):
    """Writes every part once; nested state dicts are flattened."""

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        dedup_replicated_tensors: bool | None = None,
        dedup_save_to_lowest_rank: bool = False,
        enable_plan_caching: bool = False,
    ) -> None:
        self.flatten_state_dict, self.flatten_sharded_tensors = flatten_state_dict, flatten_sharded_tensors
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank
        self.mappings: FLATTEN_MAPPING = {}

    def set_up_planner(
        self, state_dict: STATE_DICT_TYPE, storage_meta: StorageMeta | None = None, is_coordinator: bool = False
    ) -> None:
        """Begin with a state dict."""
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        self.state_dict, self.is_coordinator = state_dict, is_coordinator

    def create_local_plan(self) -> SavePlan:
        """Return what this process has."""
        plan = create_default_local_save_plan(self.state_dict, self.is_coordinator)
        if self.flatten_state_dict:
            plan = dataclasses.replace(plan, planner_data=self.mappings)
        self.plan = plan
        return plan

    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """Return who writes what, and the metadata."""
        plans = dedup_save_plans(all_plans, self.dedup_save_to_lowest_rank)
        self.global_plan, metadata = create_default_global_save_plan(plans)
        if self.flatten_state_dict:
            merged = dict(ChainMap(*[plan.planner_data for plan in self.global_plan]))
            metadata = dataclasses.replace(metadata, planner_data=merged)
        errors = _validate_global_plan(self.global_plan, metadata)
        if errors:
            summary = "; ".join(errors)
            raise ValueError(
                f"Failed to validate global plan: {summary[:500]}{'... (truncated)' if len(summary) > 500 else ''}"
            )
        self.metadata = metadata
        return self.global_plan, metadata

    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        """Return what this process writes."""
        self.plan = new_plan
        return new_plan

    def resolve_data(self, write_item: WriteItem) -> Tensor | io.BytesIO:
        """Return what is written for an item."""
        found: Tensor | io.BytesIO = self.transform_object(write_item, self.lookup_object(write_item.index))
        return found

    def lookup_object(self, index: MetadataIndex) -> Any:
        """Return what the state dict has; subclasses change it."""
        return find_state_dict_object(self.state_dict, index)

    def transform_object(self, write_item: WriteItem, object: Any) -> Any:
        """Return what is written for an object; subclasses change it."""
        if write_item.type is not WriteItemType.BYTE_IO:
            return object
        stream = io.BytesIO()
        torch.save(object, stream)
        return stream


class DefaultLoadPlanner(LoadPlanner):
    """Fills a state dict in place, however the stored parts are cut."""

    def __init__(
        self, flatten_state_dict: bool = True, flatten_sharded_tensors: bool = True, allow_partial_load: bool = False
    ) -> None:
        self.flatten_state_dict, self.flatten_sharded_tensors = flatten_state_dict, flatten_sharded_tensors
        self.allow_partial_load = allow_partial_load
        self.original_state_dict: STATE_DICT_TYPE = {}
        self.mappings: FLATTEN_MAPPING = {}

    def set_up_planner(
        self, state_dict: STATE_DICT_TYPE, metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        """Begin with a state dict to fill."""
        _init_state_dict(state_dict)
        self.original_state_dict = state_dict
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        self.state_dict, self.metadata, self.is_coordinator = state_dict, metadata, is_coordinator

    def create_local_plan(self) -> LoadPlan:
        """Return what this process needs."""
        if self.metadata is None:
            raise AssertionError("self.metadata is not None")
        return create_default_local_load_plan(self.state_dict, self.metadata, not self.allow_partial_load)

    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        """Return the plans: each reads for itself."""
        return create_default_global_load_plan(global_plan)

    def finish_plan(self, new_plan: LoadPlan) -> LoadPlan:
        """Return what this process reads."""
        return new_plan

    def load_bytes(self, read_item: ReadItem, value: io.BytesIO) -> None:
        """Take something that is no tensor."""
        found = torch.load(value, weights_only=False)
        if self.flatten_state_dict:
            set_element(self.original_state_dict, self.mappings[read_item.dest_index.fqn], found)
        else:
            self.state_dict[read_item.dest_index.fqn] = found

    def resolve_tensor(self, read_item: ReadItem) -> Tensor:
        """Return the tensor that an item is copied into."""
        return self.transform_tensor(read_item, self.lookup_tensor(read_item.dest_index))

    def commit_tensor(self, read_item: ReadItem, tensor: Tensor) -> None:
        """Nothing is left to do: the tensor is ours."""

    def lookup_tensor(self, index: MetadataIndex) -> Tensor:
        """Return what the state dict has; subclasses change it."""
        found: Tensor = find_state_dict_object(self.state_dict, index)
        return found

    def transform_tensor(self, read_item: ReadItem, tensor: Tensor) -> Tensor:
        """Return the box of a tensor that is filled; subclasses change it."""
        return narrow_tensor_by_index(tensor, read_item.dest_offsets, read_item.lengths)


class _EmptyStateDictLoadPlanner(DefaultLoadPlanner):
    """Makes the state dict from what the checkpoint has, or from those of its keys that are given."""

    def __init__(self, keys: set[str] | None = None, *args: Any, **kwargs: Any) -> None:
        self.keys = keys
        super().__init__(*args, **kwargs)

    def _wanted(self, key: str, metadata: Metadata) -> bool:
        if self.keys is None or key in self.keys:
            return True
        path = [str(part) for part in (metadata.planner_data or {}).get(key, ())]
        return any(".".join(path[: i + 1]) in self.keys for i in range(len(path)))

    def set_up_planner(
        self, state_dict: STATE_DICT_TYPE, metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        """Begin with an empty state dict."""
        if state_dict:
            raise AssertionError("not state_dict")
        if metadata is None:
            raise AssertionError("metadata is not None")
        for key, value in metadata.state_dict_metadata.items():
            if not self._wanted(key, metadata):
                continue
            made: object = value
            if isinstance(value, TensorStorageMetadata):
                made = torch.empty(value.size, dtype=value.properties.dtype)
            if metadata.planner_data is not None and key in metadata.planner_data:
                set_element(state_dict, metadata.planner_data[key], made)
            else:
                state_dict[key] = made
        super().set_up_planner(state_dict, metadata, is_coordinator)


def _here(value: object) -> bool:
    """Whether this process has a part of a value."""
    return not isinstance(value, DTensor) or value.device_mesh.get_coordinate() is not None


def create_default_local_load_plan(state_dict: dict[str, Any], metadata: Metadata, strict: bool = True) -> LoadPlan:
    """Return what is read to fill a state dict."""
    items: list[ReadItem] = []
    for fqn, value in state_dict.items():
        found = metadata.state_dict_metadata.get(fqn)
        if found is None:
            if strict:
                raise RuntimeError(f"Missing key in checkpoint state_dict: {fqn}.")
            continue
        if isinstance(found, TensorStorageMetadata) and isinstance(value, Tensor) and found.size != value.size():
            raise ValueError(f"Size mismatch between saved {found.size} and current: {value.size()} for {fqn}")
        if _here(value):
            items += _create_read_items(fqn, found, value)
    return LoadPlan(items)


def create_default_global_load_plan(all_plans: list[LoadPlan]) -> list[LoadPlan]:
    """Return the plans as they are."""
    return all_plans


def create_default_local_save_plan(state_dict: dict[str, Any], is_coordinator: bool) -> SavePlan:
    """Return a plan with all that this process has."""
    items = [item for fqn, value in state_dict.items() if _here(value) for item in _create_write_items(fqn, value)]
    return SavePlan(items)


def create_default_global_save_plan(
    all_plans: list[SavePlan], rewrite_index_hints: bool = True
) -> tuple[list[SavePlan], Metadata]:
    """Return the plans, with parts numbered, and the metadata of all."""
    known: dict[str, STORAGE_TYPES] = {}
    plans = []
    for plan in all_plans:
        items = []
        for item in plan.items:
            name, data = item.index.fqn, item.tensor_data
            if item.type is not WriteItemType.SHARD and name in known:
                raise AssertionError("item.index.fqn not in md")
            if data is None:
                known[name] = BytesStorageMetadata()
                items.append(item)
                continue
            described = known.setdefault(
                name, TensorStorageMetadata(properties=data.properties, size=data.size, chunks=[])
            )
            if not isinstance(described, TensorStorageMetadata):
                raise AssertionError(f"{name} is a tensor in one process and none in another")
            if rewrite_index_hints:
                item = dataclasses.replace(item, index=dataclasses.replace(item.index, index=len(described.chunks)))
            items.append(item)
            described.chunks.append(data.chunk)
        plans.append(dataclasses.replace(plan, items=items))
    return plans, Metadata(known)


def _create_default_local_metadata(state_dict: STATE_DICT_TYPE) -> Metadata:
    """Return the metadata of all that this process knows of, parts of others included."""
    items = [item for fqn, value in state_dict.items() for item in _describing_items(fqn, value)]
    return create_default_global_save_plan([SavePlan(items)])[1]


def _within(size: torch.Size, chunk: ChunkStorageMetadata) -> bool:
    return all(
        0 <= offset and 0 <= length and offset + length <= whole
        for offset, length, whole in zip(chunk.offsets, chunk.sizes, size, strict=True)
    )


def _validate_global_plan(global_plan: list[SavePlan], metadata: Metadata) -> list[str]:
    """Return what is wrong with the parts of tensors: outside, one over the other, or missing."""
    errors = []
    for key, value in metadata.state_dict_metadata.items():
        if isinstance(value, BytesStorageMetadata) or not value.size:
            continue
        errors += [
            f"key:{key} has out of bounds chunk: tensor-size:{value.size} chunk: {chunk}"
            for chunk in value.chunks
            if not _within(value.size, chunk)
        ]
        ordered = sorted(value.chunks, key=lambda chunk: tuple(chunk.offsets))
        errors += [
            f"key:{key} has overlapping chunks: {one} {other}"
            for one, other in itertools.combinations(ordered, 2)
            if _check_shard_metadata_pair_overlap(one, other)
        ]
        volume = sum(math.prod(chunk.sizes) for chunk in value.chunks)
        if len(global_plan) > 1 and volume != math.prod(value.size):
            errors.append(f"key:{key} invalid fill tensor-volume: {math.prod(value.size)} chunks-volume: {volume}")
    return errors


adopt(globals())
