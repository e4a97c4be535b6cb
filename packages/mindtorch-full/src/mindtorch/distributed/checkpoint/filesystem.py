"""Checkpoints in a folder: a file for each process, and `.metadata`."""

from __future__ import annotations

import dataclasses
import io
import os
import uuid
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint import _pickles
from mindtorch.distributed.checkpoint._file_system import FileSystem, FileSystemBase, SerializationFormat
from mindtorch.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta
from mindtorch.distributed.checkpoint.planner import (
    LoadItemType,
    LoadPlan,
    LoadPlanner,
    ReadItem,
    SavePlan,
    SavePlanner,
    WriteItem,
    WriteItemType,
)
from mindtorch.distributed.checkpoint.planner_helpers import narrow_tensor_by_index
from mindtorch.distributed.checkpoint.staging import BlockingAsyncStager
from mindtorch.distributed.checkpoint.storage import StorageReader, StorageWriter, WriteResult
from mindtorch.futures import Future
from mindtorch.serialization._files import replaced_file

__all__ = ["FileSystem", "FileSystemBase", "FileSystemReader", "FileSystemWriter", "SerializationFormat"]

_METADATA = ".metadata"
DEFAULT_SUFFIX = ".distcp"
CURRENT_DCP_VERSION = "1.0.0"


@dataclass
class _StorageInfo:
    """Where in which file something lies."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Sequence[str] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if value is not None}


@dataclass
class _StoragePrefix:
    """What the names of a process's files begin with."""

    prefix: str


def _done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future


def _new_id() -> str:
    return str(uuid.uuid4())


class FileSystemWriter(StorageWriter, BlockingAsyncStager):
    """Writes a checkpoint into a folder."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        cache_staged_state_dict: bool = False,
        overwrite: bool = True,
        _extensions: Sequence[object] | None = None,
        serialization_format: object = None,
    ) -> None:
        if _extensions or (
            serialization_format is not None and getattr(serialization_format, "value", None) != "torch_save"
        ):
            raise NotImplementedError("FileSystemWriter: extensions and other formats are not offered")
        BlockingAsyncStager.__init__(self, cache_staged_state_dict)
        self.path, self.save_id = Path(path), _new_id()
        self.single_file_per_rank, self.sync_files, self.thread_count = single_file_per_rank, sync_files, thread_count
        self.per_thread_copy_ahead = per_thread_copy_ahead
        self.overwrite = overwrite
        self.rank: int | None = None
        self.use_collectives = True

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Begin a checkpoint."""
        if checkpoint_id:
            self.path = Path(checkpoint_id)
        self.save_id = _new_id()

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Begin in every process."""
        self.rank, self.use_collectives = kwargs.get("rank"), kwargs.get("use_collectives", True)

    def _metadata_path(self, rank: int | None = None) -> Path:
        return self.path / (_METADATA if rank is None else f"__{rank}{_METADATA}")

    @property
    def _own_rank(self) -> int | None:
        """This process's rank when each writes metadata of its own, else None."""
        return None if self.use_collectives else self.rank

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Make the folder."""
        self.path.mkdir(parents=True, exist_ok=True)
        if self._metadata_path(None if self.use_collectives else 0).exists():
            if not self.overwrite:
                raise RuntimeError(f"Checkpoint already exists and self.overwrite={self.overwrite!r}.")
            warnings.warn(
                f"Detected an existing checkpoint in {self.path}, overwriting since self.overwrite={self.overwrite!r}."
                " Past version 2.5 of PyTorch, `overwrite` will default to False. Set this variable to True to"
                " maintain this functionality or False to raise when an existing checkpoint is found.",
                stacklevel=2,
            )
        if self._own_rank is not None:
            plan = dataclasses.replace(plan, storage_data=_StoragePrefix(f"__{self.rank}_"))
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Name the files."""
        return [
            plan if plan.storage_data is not None else dataclasses.replace(plan, storage_data=_StoragePrefix(f"__{i}_"))
            for i, plan in enumerate(plans)
        ]

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """Write a plan's items."""
        parts = _parts(plan.items, self.thread_count) if self.single_file_per_rank else [[i] for i in plan.items]
        names = [f"{plan.storage_data.prefix}{index}{DEFAULT_SUFFIX}" for index in range(len(parts))]
        if self.thread_count > 1:
            with ThreadPoolExecutor(self.thread_count) as pool:
                written = list(pool.map(lambda name, items: self._write_file(name, items, planner), names, parts))
        else:
            written = [self._write_file(name, items, planner) for name, items in zip(names, parts, strict=True)]
        return _done([result for results in written for result in results])

    def _write_file(self, name: str, items: list[WriteItem], planner: SavePlanner) -> list[WriteResult]:
        results = []
        with replaced_file(self.path / name, self.sync_files) as stream:
            for item in sorted(items, key=lambda item: item.type is not WriteItemType.BYTE_IO):
                start = stream.tell()
                data = planner.resolve_data(item)
                if isinstance(data, io.BytesIO):
                    stream.write(data.getbuffer())
                else:
                    buffer = io.BytesIO()
                    torch.save(_own_memory(data.detach().cpu()), buffer)
                    stream.write(buffer.getbuffer())
                length = stream.tell() - start
                results.append(WriteResult(item.index, length, _StorageInfo(name, start, length)))
        return results

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Write the metadata; it appears at once."""
        metadata.version = CURRENT_DCP_VERSION
        metadata.storage_data = {result.index: result.storage_data for part in results for result in part}
        metadata.storage_meta = self.storage_meta()
        with replaced_file(self._metadata_path(self._own_rank), self.sync_files) as stream:
            _pickles.dump(metadata, stream)

    def storage_meta(self) -> StorageMeta | None:
        """Return which checkpoint this is."""
        return StorageMeta(checkpoint_id=self.checkpoint_id, save_id=self.save_id)

    @property
    def checkpoint_id(self) -> str | os.PathLike[str]:
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Return whether such a place can be a folder."""
        return FileSystem.validate_checkpoint_id(checkpoint_id)


def _own_memory(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose storage has nothing else in it: all of a storage is saved."""
    used = tensor.numel() * tensor.element_size()
    return tensor if used == tensor.untyped_storage().nbytes() else tensor.clone()


def _parts(items: list[WriteItem], count: int) -> list[list[WriteItem]]:
    """Spread items over files of about equal size."""
    if count == 1:
        return [items]
    parts: list[list[WriteItem]] = [[] for _ in range(count)]
    sizes = [0] * count
    for item in sorted(items, key=lambda item: -(item.tensor_storage_size() or 0)):
        index = sizes.index(min(sizes))
        parts[index].append(item)
        sizes[index] += item.tensor_storage_size() or 1
    return parts


def _take_part(stored: torch.Tensor, item: ReadItem, planner: LoadPlanner) -> None:
    """Copy the part of a stored tensor that an item asks for to where the planner wants it."""
    found = narrow_tensor_by_index(stored, item.storage_offsets, item.lengths)
    target = planner.resolve_tensor(item).detach()
    if target.size() != found.size():
        raise AssertionError(f"req {item.storage_index} mismatch sizes {target.size()} vs {found.size()}")
    target.copy_(found)
    planner.commit_tensor(item, target)


class FileSystemReader(StorageReader):
    """Reads a checkpoint from a folder."""

    def __init__(self, path: str | os.PathLike[str], _extension_registry: object = None) -> None:
        self.path, self.load_id = Path(path), _new_id()
        self.storage_data: dict[MetadataIndex, _StorageInfo] = {}
        self.rank: int | None = None
        self.use_collectives = True

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Begin with a checkpoint."""
        self.storage_data = {}
        if checkpoint_id:
            self.path = Path(checkpoint_id)
        self.load_id = _new_id()

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Return the metadata."""
        rank = kwargs.get("rank")
        with open(self.path / (_METADATA if rank is None else f"__{rank}{_METADATA}"), "rb") as stream:
            metadata: Metadata = _pickles.load_metadata(stream)
        if getattr(metadata, "storage_meta", None) is None:
            metadata.storage_meta = StorageMeta()
        metadata.storage_meta.load_id = self.load_id  # type: ignore[union-attr] # it was made above
        return metadata

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Begin in every process."""
        self.storage_data = metadata.storage_data
        self.rank, self.use_collectives = kwargs.get("rank"), kwargs.get("use_collectives", True)
        if self.storage_data is None:
            raise AssertionError("storage_data must not be None in metadata")

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """Return the plan as it is."""
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """Return the plans as they are."""
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Read a plan's items, file by file."""
        by_file: dict[str, list[ReadItem]] = {}
        for item in plan.items:
            by_file.setdefault(self.storage_data[item.storage_index].relative_path, []).append(item)
        for name, items in by_file.items():
            with open(self._inside(name), "rb") as stream:
                for item in items:
                    self._read_item(item, stream, planner)
        return _done(None)

    def _inside(self, name: str) -> Path:
        """Return the path of a file that the metadata names: it lies in the checkpoint's folder."""
        if os.path.isabs(name) or ".." in Path(name).parts:
            raise ValueError(f"a checkpoint's file lies outside of its folder: {name!r}")
        return self.path / name

    def _read_item(self, item: ReadItem, stream: IO[bytes], planner: LoadPlanner) -> None:
        info = self.storage_data[item.storage_index]
        stream.seek(info.offset)
        content = io.BytesIO(stream.read(info.length))
        if item.type is LoadItemType.BYTE_IO:
            planner.load_bytes(item, content)
            return
        _take_part(torch.load(content, map_location="cpu", weights_only=True), item, planner)

    @property
    def checkpoint_id(self) -> str | os.PathLike[str]:
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Return whether such a place can be a folder."""
        return FileSystem.validate_checkpoint_id(checkpoint_id)


adopt(globals())
