"""What is written and read of one value of a state dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed._shard.sharded_tensor import ShardedTensor, ShardMetadata
from mindtorch.distributed.checkpoint import metadata
from mindtorch.distributed.checkpoint.metadata import (
    STORAGE_TYPES,
    BytesStorageMetadata,
    ChunkStorageMetadata,
    MetadataIndex,
    TensorStorageMetadata,
)
from mindtorch.distributed.checkpoint.planner import (
    LoadItemType,
    ReadItem,
    TensorWriteData,
    WriteItem,
    WriteItemType,
)
from mindtorch.distributed.checkpoint.resharding import _shards_get_overlap_region_wrt_saved_tensor
from mindtorch.distributed.tensor import DTensor
from mindtorch.distributed.tensor._layout import local_shape_and_offset
from mindtorch.tensor.tensor import Tensor

__all__ = ["create_read_items_for_chunk_list"]

_NONE = torch.Size([])


def _chunk_of(tensor: Tensor) -> ChunkStorageMetadata:
    """Return which box of a tensor this process has."""
    if isinstance(tensor, DTensor):
        sizes, offsets = local_shape_and_offset(tensor.shape, tensor.device_mesh, tensor.placements)
        return ChunkStorageMetadata(offsets=torch.Size(offsets), sizes=torch.Size(sizes))
    return ChunkStorageMetadata(offsets=torch.Size([0] * tensor.dim()), sizes=tensor.size())


def _properties(known: Any) -> Any:
    """Return properties as files have them: what class that is, is asked when it is written."""
    kind = metadata.TensorProperties
    return kind(*(getattr(known, one.name) for one in fields(kind)))


def _create_write_item_for_tensor(fqn: str, tensor: Tensor) -> WriteItem:
    offsets = torch.Size([0] * tensor.dim())
    data = TensorWriteData(
        chunk=ChunkStorageMetadata(offsets=offsets, sizes=tensor.size()),
        properties=metadata.TensorProperties.create_from_tensor(tensor),
        size=tensor.size(),
    )
    return WriteItem(index=MetadataIndex(fqn, offsets), type=WriteItemType.TENSOR, tensor_data=data)


def _create_write_item_for_shard(fqn: str, whole: ShardedTensor, part: ShardMetadata) -> WriteItem:
    known, offsets = whole.metadata(), torch.Size(part.shard_offsets)
    data = TensorWriteData(
        chunk=ChunkStorageMetadata(offsets=offsets, sizes=torch.Size(part.shard_sizes)),
        properties=_properties(known.tensor_properties),
        size=known.size,
    )
    return WriteItem(index=MetadataIndex(fqn, offsets), type=WriteItemType.SHARD, tensor_data=data)


def _chunks_of(tensor: Tensor) -> list[ChunkStorageMetadata]:
    """Return which boxes of a tensor this process has."""
    if isinstance(tensor, ShardedTensor):
        parts = [shard.metadata for shard in tensor.local_shards()]
        return [ChunkStorageMetadata(torch.Size(one.shard_offsets), torch.Size(one.shard_sizes)) for one in parts]
    return [_chunk_of(tensor)]


def _create_write_items(fqn: str, object: Any) -> list[WriteItem]:
    if isinstance(object, ShardedTensor):
        return [_create_write_item_for_shard(fqn, object, shard.metadata) for shard in object.local_shards()]
    if not isinstance(object, Tensor):
        return [WriteItem(index=MetadataIndex(fqn), type=WriteItemType.BYTE_IO)]
    if not isinstance(object, DTensor):
        return [_create_write_item_for_tensor(fqn, object)]
    chunk = _chunk_of(object)
    data = TensorWriteData(
        chunk=chunk, properties=metadata.TensorProperties.create_from_tensor(object.to_local()), size=object.size()
    )
    return [WriteItem(index=MetadataIndex(fqn, chunk.offsets), type=WriteItemType.SHARD, tensor_data=data)]


def _describing_items(fqn: str, object: Any) -> list[WriteItem]:
    """Return items for all parts of a value that this process knows of."""
    if isinstance(object, ShardedTensor):
        return [_create_write_item_for_shard(fqn, object, part) for part in object.metadata().shards_metadata]
    return _create_write_items(fqn, object)


def _create_read_items(fqn: str, md: STORAGE_TYPES, obj: Any) -> list[ReadItem]:
    if isinstance(md, BytesStorageMetadata):
        index = MetadataIndex(fqn)
        return [ReadItem(LoadItemType.BYTE_IO, index, torch.Size((0,)), index, torch.Size((0,)), torch.Size((0,)))]
    if not isinstance(obj, Tensor):
        raise ValueError(f"Invalid checkpoint metadata for {fqn}, expected BytesStorageMetadata but found {type(md)}")
    return create_read_items_for_chunk_list(fqn, md, _chunks_of(obj))


def create_read_items_for_chunk_list(
    fqn: str, checkpoint_md: TensorStorageMetadata, local_chunks: list[ChunkStorageMetadata]
) -> list[ReadItem]:
    """Return what is read to fill boxes of a tensor from the parts that are stored, however both are cut."""
    items = []
    for own_index, own in enumerate(local_chunks):
        for stored_index, stored in enumerate(checkpoint_md.chunks):
            common = _shards_get_overlap_region_wrt_saved_tensor(stored, own)
            if any(length <= 0 for _, _, _, length in common):
                continue
            items.append(
                ReadItem(
                    type=LoadItemType.TENSOR,
                    dest_index=MetadataIndex(fqn, own.offsets, own_index),
                    dest_offsets=torch.Size([there for _, _, there, _ in common]),
                    storage_index=MetadataIndex(fqn, stored.offsets, stored_index),
                    storage_offsets=torch.Size([start for _, start, _, _ in common]),
                    lengths=torch.Size([length for _, _, _, length in common]),
                )
            )
    return items


def narrow_tensor_by_index(tensor: Tensor, offsets: torch.Size, sizes: torch.Size) -> Tensor:
    """Return a box of a tensor."""
    for dim, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
        if size < tensor.size(dim):
            tensor = tensor.narrow(dim, offset, size)
    return tensor


def _init_state_dict(state_dict: dict[str, Any]) -> None:
    """Give tensors on `meta` memory."""
    _replace(state_dict, _with_memory)


def _with_memory(value: Any) -> Any:
    if not isinstance(value, Tensor) or value.device.type != "meta":
        return value
    if isinstance(value, DTensor):
        local = torch.empty_like(value._local_tensor, device=value.device_mesh.device_type)
        return DTensor(local, value._dtensor_spec, requires_grad=False)
    return torch.empty_like(value, device="cpu")


def _replace(container: Any, function: Callable[[Any], Any]) -> None:
    pairs = list(container.items()) if isinstance(container, Mapping) else list(enumerate(container))
    for key, value in pairs:
        if isinstance(value, (dict, list)):
            _replace(value, function)
        else:
            changed = function(value)
            if changed is not value:
                container[key] = changed


adopt(globals())
