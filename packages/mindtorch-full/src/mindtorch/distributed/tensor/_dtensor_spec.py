"""`torch.distributed.tensor._dtensor_spec`: what a tensor's arrangement is called by programs that ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.distributed.tensor._layout import Layout
from mindtorch.distributed.tensor.placement_types import Partial, Placement, Shard, _StridedShard

_SHORT = {
    "float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
    "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "b8", "complex64": "c64", "complex128": "c128",
}  # fmt: skip


class TensorMeta(NamedTuple):
    """The geometry of a whole tensor."""

    shape: torch.Size
    stride: tuple[int, ...]
    dtype: torch.dtype


class ShardOrderEntry(NamedTuple):
    """A dimension of a tensor, and the dimensions of the mesh that cut it, in their order."""

    tensor_dim: int
    mesh_dims: tuple[int, ...]


class DTensorSpec(Layout):
    """A mesh, how its dimensions hold a tensor, and the tensor's geometry where it is known."""

    tensor_meta: TensorMeta | None

    def __init__(
        self, mesh: DeviceMesh, placements: Sequence[Placement], tensor_meta: TensorMeta | None = None
    ) -> None:
        known = tensor_meta if tensor_meta is not None else TensorMeta(torch.Size(()), (), torch.float32)
        super().__init__(mesh, tuple(placements), known.shape, tuple(known.stride), known.dtype)
        object.__setattr__(self, "tensor_meta", tensor_meta)

    @classmethod
    def of(cls, layout: Layout) -> DTensorSpec:
        """Return the description of a layout; a description itself."""
        if isinstance(layout, cls):
            return layout
        return cls(
            layout.mesh, layout.placements, TensorMeta(torch.Size(layout.shape), tuple(layout.stride), layout.dtype)
        )

    def __getattribute__(self, name: str) -> object:
        if name in ("shape", "stride", "dtype") and object.__getattribute__(self, "tensor_meta") is None:
            raise ValueError("tensor_meta is not set")
        return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DTensorSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[DeviceMesh, tuple[Placement, ...], TensorMeta | None]:
        return self.mesh, self.placements, self.tensor_meta

    @property
    def device_mesh(self) -> DeviceMesh:
        """The mesh."""
        found: DeviceMesh = self.mesh
        return found

    @property
    def dim_map(self) -> list[int]:
        """Return, for every dimension of the tensor, the dimension of the mesh that cuts it; -1 for none."""
        found = [-1] * self.ndim
        for mesh_dim, placement in enumerate(self.placements):
            if isinstance(placement, (Shard, _StridedShard)):
                if found[placement.dim] >= 0:
                    raise ValueError(
                        f"Tensor dim {placement.dim} is already sharded on mesh dim {found[placement.dim]}, "
                        "DTensor operator implementation does not support things like hybrid sharding strategies yet "
                        "(i.e. [Shard(0), Shard(0)])"
                    )
                found[placement.dim] = mesh_dim
        return found

    @property
    def num_shards_map(self) -> list[int]:
        """Return into how many parts every dimension of the tensor is cut."""
        found = [1] * self.ndim
        for mesh_dim, placement in enumerate(self.placements):
            if isinstance(placement, (Shard, _StridedShard)):
                found[placement.dim] *= self.mesh.size(mesh_dim)
        return found

    @property
    def num_shards(self) -> int:
        """The number of parts of the tensor."""
        found = 1
        for mesh_dim, placement in enumerate(self.placements):
            if isinstance(placement, (Shard, _StridedShard)):
                found *= self.mesh.size(mesh_dim)
        return found

    @property
    def sums(self) -> list[int]:
        """The dimensions of the mesh along which processes hold terms."""
        return [mesh_dim for mesh_dim, placement in enumerate(self.placements) if isinstance(placement, Partial)]

    def is_replicated(self) -> bool:
        """Return whether every process holds all."""
        return all(placement.is_replicate() for placement in self.placements)

    def is_sharded(self) -> bool:
        """Return whether the tensor is cut somewhere."""
        return any(placement.is_shard() for placement in self.placements)

    def __repr__(self) -> str:
        return f"DTensorSpec(mesh={self.mesh}, placements={self.placements}, tensor_meta={self.tensor_meta})"

    def __str__(self) -> str:
        placed = "".join(map(str, self.placements))
        if self.tensor_meta is None:
            return f"Spec(unknown dtypeunknown shape({placed}))"
        dtype = str(self.dtype).removeprefix("torch.").removeprefix("mindtorch.")
        return f"Spec({_SHORT.get(dtype, dtype)}{list(self.shape)}({placed}))"


adopt(globals())
