"""What the parts of a tensor have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed._shard.metadata import ShardMetadata
from mindtorch.distributed._tensor_properties import TensorProperties as _Properties
from mindtorch.tensor.tensor import Tensor


@dataclass
class TensorProperties(_Properties):
    """What a tensor is made with; files have it as torch writes it."""

    __hash__ = None  # type: ignore[assignment] # as every class that compares by value

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        super().__setstate__(state)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Properties):
            return NotImplemented
        return self.__getstate__() == other.__getstate__()

    @staticmethod
    def create_from_tensor(tensor: Tensor) -> TensorProperties:
        """Return a tensor's properties."""
        return TensorProperties(
            tensor.dtype, tensor.layout, tensor.requires_grad, torch.contiguous_format, tensor.is_pinned()
        )


@dataclass
class ShardedTensorMetadata:
    """All parts of a tensor, its size, and what it is made with."""

    shards_metadata: list[ShardMetadata] = field(default_factory=list)
    size: torch.Size = field(default=torch.Size([]))
    tensor_properties: TensorProperties = field(default_factory=TensorProperties)


adopt(globals(), "torch.distributed._shard.sharded_tensor.metadata")
