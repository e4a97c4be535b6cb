"""Files of the safetensors format: a header in JSON, and the bytes of tensors."""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch.tensor.tensor import Tensor

_DTYPES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_MOST = 100_000_000


@dataclass
class Entry:
    """A tensor in a file."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    start: int


def write(path: str | os.PathLike[str], tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> int:
    """Write a file that appears at once; return the bytes of its tensors."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    start = 0
    for name, tensor in tensors.items():
        if tensor.dtype not in _NAMES:
            raise ValueError(f"{name}: safetensors has no {tensor.dtype}")
        end = start + tensor.numel() * tensor.element_size()
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end]}
        start = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    temporary = os.fspath(path) + ".tmp"
    with open(temporary, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)))
        stream.write(text)
        for tensor in tensors.values():
            stream.write(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, path)
    return start


def read_header(path: str | os.PathLike[str]) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return the tensors of a file, and its metadata."""
    with open(path, "rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        if length > _MOST:
            raise ValueError(f"{path}: a header of {length} bytes is too large")
        header = json.loads(stream.read(length))
    metadata = header.pop("__metadata__", {})
    size = os.path.getsize(path) - 8 - length
    entries = {}
    for name, found in header.items():
        start, end = found["data_offsets"]
        entry = Entry(_DTYPES[found["dtype"]], tuple(found["shape"]), 8 + length + start)
        if not 0 <= start <= end <= size or end - start != math.prod(entry.shape) * entry.dtype.itemsize:
            raise ValueError(f"{path}: {name} does not lie in the file")
        entries[name] = entry
    return entries, metadata


def read(path: str | os.PathLike[str], entry: Entry) -> Tensor:
    """Return a tensor over a mapping of its file: only what is used is read."""
    size = math.prod(entry.shape) * entry.dtype.itemsize
    if not size:
        return torch.empty(entry.shape, dtype=entry.dtype)
    mapped = np.memmap(path, np.uint8, "c", offset=entry.start, shape=(size,))
    return torch.from_numpy(np.asarray(mapped)).view(entry.dtype).view(entry.shape)
