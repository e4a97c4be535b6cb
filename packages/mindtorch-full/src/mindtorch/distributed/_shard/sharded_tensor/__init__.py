"""`torch.distributed._shard.sharded_tensor`: tensors in parts that the processes of a group have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.distributed._shard.metadata import ShardMetadata as ShardMetadata
from mindtorch.distributed._shard.sharded_tensor.api import ShardedTensor as ShardedTensor
from mindtorch.distributed._shard.sharded_tensor.api import ShardedTensorBase as ShardedTensorBase
from mindtorch.distributed._shard.sharded_tensor.metadata import ShardedTensorMetadata as ShardedTensorMetadata
from mindtorch.distributed._shard.sharded_tensor.metadata import TensorProperties as TensorProperties
from mindtorch.distributed._shard.sharded_tensor.shard import Shard as Shard
from mindtorch.distributed._shard.sharding_spec import ShardingSpec as ShardingSpec
from mindtorch.tensor.tensor import Tensor


def init_from_local_shards(
    local_shards: list[Shard], *global_size: Any, process_group: Any = None, init_rrefs: bool = False
) -> ShardedTensor:
    """Return the tensor of this size whose parts the processes of a group give."""
    return ShardedTensor._init_from_local_shards(
        local_shards, *global_size, process_group=process_group, init_rrefs=init_rrefs
    )


def _made(
    fill: Callable[..., Tensor],
    sharding_spec: ShardingSpec,
    size: Any,
    dtype: torch.dtype | None,
    layout: torch.layout,
    requires_grad: bool,
    pin_memory: bool,
    memory_format: torch.memory_format,
    process_group: Any,
    init_rrefs: bool,
) -> ShardedTensor:
    """Return a tensor that is cut as `sharding_spec` says, whose parts `fill` makes, each in its process."""
    shape = torch.Size(size[0] if len(size) == 1 and not isinstance(size[0], int) else size)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    known = TensorProperties(dtype, layout, requires_grad, memory_format, pin_memory)
    metadata = sharding_spec.build_metadata(shape, known)
    rank = dist.get_rank(process_group)
    shards = []
    for described in metadata.shards_metadata:
        place = described.placement
        if place is not None and place.rank() == rank:
            part = fill(*described.shard_sizes, dtype=dtype, layout=layout, device=place.device())
            shards.append(Shard(part.requires_grad_(requires_grad), described))
    return ShardedTensor._init_from_local_shards_and_global_metadata(
        shards, metadata, process_group, init_rrefs, sharding_spec
    )


def _factory(name: str, fill: Callable[..., Tensor]) -> Callable[..., ShardedTensor]:
    def factory(
        sharding_spec: ShardingSpec,
        *size: Any,
        dtype: torch.dtype | None = None,
        layout: torch.layout = torch.strided,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: torch.memory_format = torch.contiguous_format,
        process_group: Any = None,
        init_rrefs: bool = False,
    ) -> ShardedTensor:
        return _made(
            fill,
            sharding_spec,
            size,
            dtype,
            layout,
            requires_grad,
            pin_memory,
            memory_format,
            process_group,
            init_rrefs,
        )

    factory.__name__ = factory.__qualname__ = name
    factory.__doc__ = f"Return what `torch.{name}` does, in parts: every process makes its own."
    return factory


empty, ones, rand, randn, zeros = (
    _factory(name, getattr(torch, name)) for name in ("empty", "ones", "rand", "randn", "zeros")
)


def full(
    sharding_spec: ShardingSpec,
    size: Any,
    fill_value: float,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: torch.memory_format = torch.contiguous_format,
    process_group: Any = None,
    init_rrefs: bool = False,
) -> ShardedTensor:
    """Return a tensor in parts with the same value everywhere."""

    def fill(*sizes: int, **kwargs: Any) -> Tensor:
        return torch.full(sizes, fill_value, **kwargs)

    given = (size,)
    return _made(
        fill, sharding_spec, given, dtype, layout, requires_grad, pin_memory, memory_format, process_group, init_rrefs
    )


def state_dict_hook(module: nn.Module, destination: dict[str, Any], prefix: str, local_metadata: Any) -> None:
    """Put the tensors in parts of a module and its submodules, which are no parameters, into its state."""
    for name, inner in module.named_modules():
        for attribute, value in vars(inner).items():
            if isinstance(value, ShardedTensor):
                destination[f"{prefix}{name}{'.' if name else ''}{attribute}"] = value


def pre_load_state_dict_hook(
    module: nn.Module,
    state_dict: dict[str, Any],
    prefix: str,
    local_metadata: Any,
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
) -> None:
    """Give a module and its submodules the tensors in parts that a state has for them."""
    for name, inner in module.named_modules():
        for attribute, value in list(vars(inner).items()):
            key = f"{prefix}{name}{'.' if name else ''}{attribute}"
            if isinstance(value, ShardedTensor) and isinstance(state_dict.get(key), ShardedTensor):
                setattr(inner, attribute, state_dict[key])


adopt(globals())
