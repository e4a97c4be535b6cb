"""A tensor in parts that the processes of a group have."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed._shard.metadata import ShardMetadata
from mindtorch.distributed._shard.sharded_tensor.metadata import ShardedTensorMetadata, TensorProperties
from mindtorch.distributed._shard.sharded_tensor.shard import Shard, own
from mindtorch.distributed._shard.sharding_spec import EnumerableShardingSpec, ShardingSpec
from mindtorch.distributed._shard.sharding_spec._internals import check_tensor, validate_non_overlapping_shards_metadata
from mindtorch.tensor.tensor import Tensor

_KEPT = ("dtype", "layout", "requires_grad")
"""Properties that all parts share."""


class ShardedTensorBase(Tensor):
    """Says how it is cut, and has no data of its own."""

    _sharding_spec: ShardingSpec
    _metadata: ShardedTensorMetadata
    _local_shards: list[Shard]

    @staticmethod
    def _made(cls: Any, metadata: ShardedTensorMetadata, spec: ShardingSpec) -> Any:
        known = metadata.tensor_properties
        made = Tensor._make_wrapper_subclass(
            cls, metadata.size, dtype=known.dtype, layout=known.layout, requires_grad=known.requires_grad
        )
        made._sharding_spec, made._metadata, made._local_shards = spec, metadata, []
        return made

    def metadata(self) -> ShardedTensorMetadata:
        """Return all parts, the size, and what the tensor is made with."""
        return self._metadata

    def local_shards(self) -> list[Shard]:
        """Return the parts of this process."""
        return self._local_shards

    def sharding_spec(self) -> ShardingSpec:
        """Return how it is cut."""
        return self._sharding_spec


class ShardedTensor(ShardedTensorBase):
    """A tensor in parts: what computes with them is `local_tensor`, `local_shards` and `gather`."""

    @classmethod
    def _init_from_local_shards(
        cls, local_shards: list[Shard], *global_size: Any, process_group: Any = None, init_rrefs: bool = False
    ) -> ShardedTensor:
        """Return the tensor of this size whose parts the processes give: each tells the others of its own."""
        size = torch.Size(
            global_size[0] if len(global_size) == 1 and not isinstance(global_size[0], int) else global_size
        )
        told: list[Any] = [None] * dist.get_world_size(process_group)
        dist.all_gather_object(told, (_plain(local_shards), size), group=process_group)
        first = next((known for (_, known), _ in told if known), None)
        if first is None:
            raise ValueError("ShardedTensor have no local shards on all ranks!")
        for rank, ((_, known), other) in enumerate(told):
            if other != size:
                raise ValueError(
                    f"ShardedTensor global_size property does not match from different ranks! Found global_size={size} on "
                    f"rank:0, and global_size={other} on rank:{rank}."
                )
            _check_same(first, known, rank)
        shards = [ShardMetadata(*shard) for (shards, _), _ in told for shard in shards]
        metadata = ShardedTensorMetadata(shards, size, TensorProperties(**first))
        return cls._init_from_local_shards_and_global_metadata(local_shards, metadata, process_group, init_rrefs)

    @classmethod
    def _init_from_local_shards_and_global_metadata(
        cls,
        local_shards: list[Shard],
        sharded_tensor_metadata: ShardedTensorMetadata,
        process_group: Any = None,
        init_rrefs: bool = False,
        sharding_spec: ShardingSpec | None = None,
    ) -> ShardedTensor:
        """Return the tensor of parts that all processes know of already."""
        if init_rrefs:
            raise NotImplementedError("torch.distributed.rpc is not offered: init_rrefs must be False")
        metadata, rank = sharded_tensor_metadata, dist.get_rank(process_group)
        shards = metadata.shards_metadata
        if not shards:
            raise ValueError("shards_metadata must not be empty!")
        if metadata.tensor_properties.layout != torch.strided:
            raise ValueError("Only torch.strided layout is currently supported")
        _check_ranks(shards, process_group)
        mine = own(shards)
        if len(local_shards) != len(mine):
            raise RuntimeError(
                f"Number of local shards ({len(local_shards)}) does not match number of local shards metadata in "
                f"sharded_tensor_metadata ({len(mine)}) on rank ({rank}) "
            )
        for shard, described in zip(local_shards, mine, strict=True):
            if shard.metadata != described:
                raise ValueError(f"Local shard metadata: {shard.metadata} on rank {rank} does not match: {described}")
            _check_shard(shard, metadata.tensor_properties, rank)
        validate_non_overlapping_shards_metadata(shards)
        check_tensor(shards, metadata.size)
        made: ShardedTensor = cls._made(cls, metadata, sharding_spec or EnumerableShardingSpec(shards))
        made._local_shards, made._process_group = local_shards, process_group
        return made

    @property
    def _group(self) -> Any:
        return self._process_group

    def local_tensor(self) -> Tensor:
        """Return the part of a process that has one."""
        if len(self._local_shards) != 1:
            raise NotImplementedError("Only single local shard is supported.")
        return self._local_shards[0].tensor

    def gather(  # type: ignore[override] # the name of an operator too
        self, dst: int = 0, out: Tensor | None = None, enforce_dtype: bool = False, dtype: torch.dtype | None = None
    ) -> None:
        """Bring all parts together in `out` at a rank."""
        rank, world = dist.get_rank(self._group), dist.get_world_size(self._group)
        if rank == dst and out is None:
            raise ValueError("`out` Tensor must be provided on dst rank!")
        given = [(shard.metadata.shard_offsets, shard.tensor.detach()) for shard in self._local_shards]
        found: list[Any] | None = [None] * world if rank == dst else None
        dist.gather_object(
            given, found, dst=dist.get_global_rank(self._group or dist.group.WORLD, dst), group=self._group
        )
        if found is None or out is None:
            return
        with torch.no_grad():
            for offsets, part in (one for parts in found for one in parts):
                box = tuple(slice(start, start + size) for start, size in zip(offsets, part.shape, strict=True))
                out[box] = part.to(out.dtype if enforce_dtype or dtype is None else dtype)

    def is_pinned(self, device: Any = None) -> bool:
        """Return whether its parts lie in pinned memory."""
        return self._metadata.tensor_properties.pin_memory

    def remote_shards(self) -> Any:
        """Raise: parts of other processes are reached by `gather`."""
        raise RuntimeError("ShardedTensor created with init_rrefs=False, no RRefs to remote shards available")

    def cpu(self, *args: Any, **kwargs: Any) -> ShardedTensor:
        """Return it: its parts lie in the host's memory."""
        return self

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override] # torch asks nobody for it
        return f"ShardedTensor({self._metadata})"

    def __hash__(self) -> int:
        return id(self)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name in ("detach", "clone"):
            return _each(args[0], lambda tensor: func(tensor, *args[1:], **(kwargs or {})))
        if name == "__get__" or name in _ANSWERED:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))
        raise RuntimeError(
            f"torch function '{name}', with args: {args} and kwargs: {kwargs} not supported for ShardedTensor!"
        )

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"A {cls.__name__} object is being used from c++ while calling {func} but it has no data")


_ANSWERED = frozenset("size dim is_pinned numel is_floating_point is_complex is_contiguous element_size".split())
"""Functions that ask for what the metadata says."""


def _each(whole: ShardedTensor, function: Any) -> ShardedTensor:
    """Return the tensor of the changed parts."""
    shards = [Shard(function(shard.tensor), shard.metadata) for shard in whole._local_shards]
    made: ShardedTensor = ShardedTensorBase._made(type(whole), whole._metadata, whole._sharding_spec)
    made._local_shards, made._process_group = shards, whole._process_group
    return made


def _plain(shards: list[Shard]) -> tuple[list[Any], dict[str, Any]]:
    """Return what processes tell one another of their parts, in types that need no import to be read."""
    parts = [(one.metadata.shard_offsets, one.metadata.shard_sizes, str(one.metadata.placement)) for one in shards]
    if not shards:
        return parts, {}
    known = TensorProperties.create_from_tensor(shards[0].tensor)
    return parts, {name: getattr(known, name) for name in (*_KEPT, "pin_memory")}


def _check_same(first: dict[str, Any], known: dict[str, Any], rank: int) -> None:
    for name in known:
        if first[name] != known[name]:
            raise ValueError(
                f"ShardedTensor {name} property does not match from different ranks! "
                f"Found {name}={first[name]} on rank:0, and {name}={known[name]} on rank:{rank}."
            )


def _check_ranks(shards: list[ShardMetadata], group: Any) -> None:
    ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
    for shard in shards:
        rank = None if shard.placement is None else shard.placement.rank()
        if rank is not None and rank not in ranks:
            raise ValueError(f"Global rank {rank} does not exist in input process group: {list(ranks)}")


def _check_shard(shard: Shard, expected: TensorProperties, rank: int) -> None:
    found = TensorProperties.create_from_tensor(shard.tensor)
    for name in _KEPT:
        if getattr(found, name) != getattr(expected, name):
            raise ValueError(
                f"Local shards' tensor {name} property is incompatible with tensor property on rank {rank}: "
                f"tensor property {name}={getattr(expected, name)}, local shard tensor {name}={getattr(found, name)}."
            )


adopt(globals())
