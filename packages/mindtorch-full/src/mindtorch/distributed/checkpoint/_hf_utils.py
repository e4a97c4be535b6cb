"""Names and texts of HuggingFace checkpoints."""

from __future__ import annotations

from dataclasses import dataclass

import mindtorch as torch
from mindtorch._naming import adopt

_metadata_fn = "model.safetensors.index.json"
SUFFIX = ".safetensors"
CUSTOM_METADATA_KEY = "DCP_SHARDING_INFO"
SAVED_OFFSETS_KEY = "saved_offsets"
SHARDED_DIR_NAME = "sharded"
HF_DCP_VERSION = 1.0


@dataclass
class _HFStorageInfo:
    """Where a tensor's part lies."""

    relative_path: str
    shape: torch.Size
    dtype: torch.dtype


def _gen_file_name(index: int, largest_index: int, shard_index: int | None = None) -> str:
    name = f"model-{index:05d}-of-{largest_index:05d}{SUFFIX}"
    return name if shard_index is None else f"shard-{shard_index:05d}-{name}"


adopt(globals())
