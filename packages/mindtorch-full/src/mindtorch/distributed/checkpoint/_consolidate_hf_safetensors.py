"""Whole tensors from the parts that processes wrote as safetensors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint import _safetensors
from mindtorch.distributed.checkpoint._hf_utils import (
    CUSTOM_METADATA_KEY,
    SAVED_OFFSETS_KEY,
    SUFFIX,
    _gen_file_name,
    _metadata_fn,
)
from mindtorch.tensor.tensor import Tensor

Part = tuple[Path, _safetensors.Entry, list[int]]


def _find(folder: Path) -> dict[str, list[Part]]:
    parts: dict[str, list[Part]] = {}
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        entries, told = _safetensors.read_header(file)
        places = json.loads(told.get(CUSTOM_METADATA_KEY) or "{}")
        for name, entry in entries.items():
            offset = places[name][SAVED_OFFSETS_KEY] if places else [0] * len(entry.shape)
            parts.setdefault(name, []).append((file, entry, offset))
    return parts


def _whole(parts: list[Part]) -> Tensor:
    size = [max(offset[d] + entry.shape[d] for _, entry, offset in parts) for d in range(len(parts[0][2]))]
    whole = torch.empty(size, dtype=parts[0][1].dtype)
    for file, entry, offset in parts:
        box = tuple(slice(start, start + length) for start, length in zip(offset, entry.shape, strict=True))
        whole[box] = _safetensors.read(file, entry)
    return whole


def consolidate_safetensors_files(
    input_dir: str, output_dir: str, fqn_to_index_mapping: Mapping[str, int], num_threads: int = 1
) -> None:
    """Put the parts in a folder's files together, and write whole tensors and their index into another."""
    parts, target = _find(Path(input_dir)), Path(output_dir)
    target.mkdir(parents=True, exist_ok=True)
    last = max(fqn_to_index_mapping.values())
    weights, total = {}, 0
    for index in sorted(set(fqn_to_index_mapping.values())):
        names = [name for name, number in fqn_to_index_mapping.items() if number == index]
        file = _gen_file_name(index, last)
        total += _safetensors.write(target / file, {name: _whole(parts[name]) for name in names}, {"format": "pt"})
        weights.update(dict.fromkeys(names, file))
    index_text = json.dumps({"metadata": {"total_size": total}, "weight_map": weights}, indent=2)
    (target / _metadata_fn).write_text(index_text)


adopt(globals())
