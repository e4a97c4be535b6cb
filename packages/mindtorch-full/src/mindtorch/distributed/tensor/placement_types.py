"""`torch.distributed.tensor.placement_types`: how one dimension of a mesh holds a tensor. Values, without a mesh."""

from typing import Any

from mindtorch._naming import adopt

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """How the processes along one dimension hold a tensor."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Return whether each holds a part, of ``dim`` when it is given."""
        return isinstance(self, Shard) and (dim is None or self.dim == dim)

    def is_replicate(self) -> bool:
        """Return whether each holds all."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Return whether each holds a term of a reduction, of ``reduce_op`` when it is given."""
        return isinstance(self, Partial) and (reduce_op is None or self.reduce_op == reduce_op)

    def _key(self) -> tuple[Any, ...]:
        return (type(self), *vars(self).values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Placement) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class Shard(Placement):
    """Each process holds a part of the dimension ``dim``."""

    def __init__(self, dim: int) -> None:
        self.dim = dim

    @staticmethod
    def local_shard_size_and_offset(curr_local_size: int, num_chunks: int, rank: int) -> tuple[int, int]:
        """Return the size of one of `num_chunks` parts of a dimension, and where it begins."""
        full = -(-curr_local_size // num_chunks)
        start = min(full * rank, curr_local_size)
        return min(full * (rank + 1), curr_local_size) - start, start

    _local_shard_size_and_offset = local_shard_size_and_offset

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})"

    def __str__(self) -> str:
        return f"S({self.dim})"


class Replicate(Placement):
    """Each process holds the whole tensor."""

    def __repr__(self) -> str:
        return "Replicate()"

    def __str__(self) -> str:
        return "R"


class Partial(Placement):
    """Each process holds a term; ``reduce_op`` of the terms is the tensor."""

    def __init__(self, reduce_op: str = "sum") -> None:
        self.reduce_op = reduce_op

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


class _NormPartial(Partial):
    """Each process holds the norm of its part; ``norm_type`` says of which power."""

    def __init__(self, norm_type: float = 2) -> None:
        super().__init__("norm")
        self.norm_type = norm_type

    def __repr__(self) -> str:
        return f"_NormPartial({self.norm_type})"

    def __str__(self) -> str:
        return f"_NormP({self.norm_type})"


class _StridedShard(Placement):
    """Each process holds a part of the dimension ``dim``, which later dimensions of the mesh cut before into ``split_factor``."""

    def __init__(self, dim: int, *, split_factor: int = 1, sf: int | None = None) -> None:
        if sf is not None and split_factor != 1:
            raise TypeError("_StridedShard received both split_factor and sf")
        self.dim, self.split_factor = dim, split_factor if sf is None else sf

    def __repr__(self) -> str:
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

    def __str__(self) -> str:
        return f"_S({self.dim}, {self.split_factor})"


adopt(globals())
