"""Checkpoints as HuggingFace's libraries have them: safetensors files, and an index."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint import _safetensors
from mindtorch.distributed.checkpoint._consolidate_hf_safetensors import consolidate_safetensors_files
from mindtorch.distributed.checkpoint._hf_utils import (
    CUSTOM_METADATA_KEY,
    HF_DCP_VERSION,
    SAVED_OFFSETS_KEY,
    SHARDED_DIR_NAME,
    SUFFIX,
    _gen_file_name,
    _HFStorageInfo,
    _metadata_fn,
)
from mindtorch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter, _done, _take_part
from mindtorch.distributed.checkpoint.metadata import (
    STORAGE_TYPES,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from mindtorch.distributed.checkpoint.planner import LoadPlan, LoadPlanner, ReadItem, SavePlan, SavePlanner
from mindtorch.distributed.checkpoint.storage import WriteResult
from mindtorch.futures import Future
from mindtorch.tensor.tensor import Tensor

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]


class HuggingFaceStorageWriter(FileSystemWriter):
    """Writes safetensors files: whole tensors with an index, or each process's parts."""

    def __init__(
        self,
        path: str,
        fqn_to_index_mapping: dict[str, int] | None = None,
        thread_count: int = 1,
        save_distributed: bool = False,
        enable_consolidation: bool = False,
        thread_count_consolidation: int = 1,
    ) -> None:
        super().__init__(path=path, thread_count=thread_count)
        self.fqn_to_index_mapping, self.save_distributed = fqn_to_index_mapping, save_distributed
        self.enable_consolidation, self.thread_count_consolidation = enable_consolidation, thread_count_consolidation
        self.consolidated_output_path: str | None = None
        if enable_consolidation:
            self.consolidated_output_path = str(self.path)
            self.path = self.path / SHARDED_DIR_NAME

    def _metadata_path(self, rank: int | None = None) -> Path:
        return self.path / _metadata_fn

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Number the files."""
        result = []
        for index, plan in enumerate(plans, start=1):
            data: dict[str, Any] = {}
            if self.fqn_to_index_mapping is not None:
                data["fqn_to_index_mapping"] = self.fqn_to_index_mapping
            if self.save_distributed:
                data["shard_index"] = index
            result.append(dataclasses.replace(plan, storage_data=data))
        return result

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """Write a plan's tensors."""
        mapping: dict[str, int] | None = plan.storage_data.get("fqn_to_index_mapping")
        shard, last = plan.storage_data.get("shard_index"), 1 if mapping is None else max(mapping.values())
        files: dict[int, list[Any]] = {}
        for item in plan.items:
            files.setdefault(1 if mapping is None else mapping[item.index.fqn], []).append(item)
        results = []
        for index, items in files.items():
            name = _gen_file_name(index, last, shard)
            tensors: dict[str, Tensor] = {}
            places = {}
            for item in items:
                data = planner.resolve_data(item)
                if not isinstance(data, Tensor):
                    raise ValueError(f"{item.index.fqn}: safetensors holds tensors alone")
                tensors[item.index.fqn] = data
                places[item.index.fqn] = {SAVED_OFFSETS_KEY: list(item.index.offset or [])}
            told = {"format": "pt", "DCP_VERSION": str(HF_DCP_VERSION), CUSTOM_METADATA_KEY: json.dumps(places)}
            _safetensors.write(self.path / name, tensors, told)
            for item in items:
                tensor = tensors[item.index.fqn]
                size = tensor.numel() * tensor.element_size()
                info = _HFStorageInfo(name, tensor.size(), tensor.dtype)
                results.append(WriteResult(item.index, size, info))
        return _done(results)

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Write the index of whole tensors, or put parts together when that is asked for."""
        if self.save_distributed:
            if self.consolidated_output_path is not None:
                mapping = self.fqn_to_index_mapping or dict.fromkeys(metadata.state_dict_metadata, 1)
                consolidate_safetensors_files(
                    str(self.path), self.consolidated_output_path, mapping, self.thread_count_consolidation
                )
            return
        flat = [result for part in results for result in part]
        index = {
            "metadata": {"total_size": sum(result.size_in_bytes for result in flat)},
            "weight_map": {result.index.fqn: result.storage_data.relative_path for result in flat},
        }
        self._metadata_path().write_text(json.dumps(index, indent=2))

    @property
    def metadata_path(self) -> str:
        """The index's name."""
        return _metadata_fn


class HuggingFaceStorageReader(FileSystemReader):
    """Reads safetensors files, with whole tensors or with parts."""

    def __init__(self, path: str, thread_count: int = 1) -> None:
        super().__init__(path=path)
        self.thread_count = thread_count

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Return what the files' headers say."""
        known: dict[str, STORAGE_TYPES] = {}
        storage: dict[MetadataIndex, _HFStorageInfo] = {}
        self._entries: dict[tuple[str, str], _safetensors.Entry] = {}
        for file in sorted(self.path.glob(f"*{SUFFIX}")):
            entries, told = _safetensors.read_header(file)
            places = json.loads(told.get(CUSTOM_METADATA_KEY) or "{}")
            for name, entry in entries.items():
                offset = places[name][SAVED_OFFSETS_KEY] if places else [0] * len(entry.shape)
                chunk = ChunkStorageMetadata(torch.Size(offset), torch.Size(entry.shape))
                end = [start + size for start, size in zip(offset, entry.shape, strict=True)]
                described = known.get(name)
                if isinstance(described, TensorStorageMetadata):
                    described.chunks.append(chunk)
                    described.size = torch.Size(map(max, described.size, end))
                else:
                    properties = TensorProperties(dtype=entry.dtype)
                    known[name] = TensorStorageMetadata(properties, torch.Size(end), [chunk])
                self._entries[str(file), name] = entry
                storage[MetadataIndex(name, offset)] = _HFStorageInfo(str(file), chunk.sizes, entry.dtype)
        return Metadata(known, storage_data=storage, storage_meta=StorageMeta(load_id=self.load_id))

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read a plan's tensors."""
        for item in plan.items:
            self._read_tensor(item, planner)
        return _done(None)

    def _read_tensor(self, item: ReadItem, planner: LoadPlanner) -> None:
        file = self.storage_data[item.storage_index].relative_path
        stored = _safetensors.read(file, self._entries[file, item.storage_index.fqn])
        _take_part(stored, item, planner)


adopt(globals())
