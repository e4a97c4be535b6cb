"""What a tensor is made with, as files of checkpoints have it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.tensor.tensor import Tensor


class _MEM_FORMAT_ENCODING(Enum):
    """The numbers of memory formats in files."""

    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


_ENCODINGS = (
    (torch.contiguous_format, _MEM_FORMAT_ENCODING.TORCH_CONTIGUOUS_FORMAT),
    (torch.channels_last, _MEM_FORMAT_ENCODING.TORCH_CHANNELS_LAST),
    (torch.preserve_format, _MEM_FORMAT_ENCODING.TORCH_PRESERVE_FORMAT),
)


@dataclass
class TensorProperties:
    """What a tensor is made with."""

    dtype: torch.dtype = field(default_factory=torch.get_default_dtype)
    layout: torch.layout = field(default=torch.strided)
    requires_grad: bool = False
    memory_format: torch.memory_format = field(default=torch.contiguous_format)
    pin_memory: bool = False

    def __getstate__(self) -> tuple[object, ...]:
        encoded = next((code for known, code in _ENCODINGS if known == self.memory_format), None)
        if encoded is None:
            raise RuntimeError(f"Invalid torch.memory_format: {self.memory_format}")
        return self.dtype, self.layout, self.requires_grad, encoded, self.pin_memory

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.dtype, self.layout, self.requires_grad, encoded, self.pin_memory = state
        found = next((known for known, code in _ENCODINGS if code == encoded), None)
        if found is None:
            raise RuntimeError(f"Invalid torch.memory_format encoding: {encoded}")
        self.memory_format = found

    @staticmethod
    def create_from_tensor(tensor: Tensor) -> TensorProperties:
        """Return a tensor's properties."""
        return TensorProperties(
            dtype=tensor.dtype,
            layout=tensor.layout,
            requires_grad=tensor.requires_grad,
            memory_format=torch.contiguous_format,
            pin_memory=tensor.is_pinned(),
        )


adopt(globals(), "torch.distributed.checkpoint.metadata")
