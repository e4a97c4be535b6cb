"""One parameter: its part in this process, and the whole while a module is run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.distributed.tensor import DTensor, Placement, Replicate, Shard, distribute_tensor
from mindtorch.distributed.tensor._dtensor_spec import DTensorSpec
from mindtorch.distributed.tensor._layout import Layout, redistribute_local
from mindtorch.distributed.tensor.placement_types import _StridedShard
from mindtorch.tensor.tensor import Tensor


@dataclass(frozen=True)
class MeshInfo:
    """Along which dimensions of a mesh parameters are parts, and along which they are copies."""

    mesh: DeviceMesh

    @property
    def shard_dim(self) -> int:
        """The dimension of the parts: the last."""
        return self.mesh.ndim - 1

    @property
    def shard_group(self) -> dist.ProcessGroup:
        """The processes that hold the parts of one copy."""
        return self.mesh.get_group(self.shard_dim)

    @property
    def shard_size(self) -> int:
        """The number of parts."""
        return self.mesh.size(self.shard_dim)

    @property
    def shard_rank(self) -> int:
        """Which part is this process's."""
        return self.mesh.get_local_rank(self.shard_dim)

    @property
    def replicate_group(self) -> dist.ProcessGroup | None:
        """The processes that hold copies of the same part; None when there is one copy."""
        return self.mesh.get_group(0) if self.mesh.ndim == 2 else None

    def placements(self, shard: Placement) -> tuple[Placement, ...]:
        """Return the placements of a parameter."""
        return (shard,) if self.mesh.ndim == 1 else (Replicate(), shard)


def _copy_attributes(source: nn.Parameter, target: nn.Parameter) -> None:
    """Give a parameter what a program wrote on the one whose place it takes."""
    for name, value in vars(source).items():
        if name not in ("_dtensor_spec", "_local_tensor"):
            setattr(target, name, value)


class FSDPParam:
    """A parameter of one or several modules."""

    def __init__(
        self,
        param: nn.Parameter,
        owners: Sequence[tuple[nn.Module, str]],
        info: MeshInfo,
        placement: Shard | None,
        param_dtype: torch.dtype | None,
        device: torch.device,
        offload: bool,
    ) -> None:
        if not param.is_contiguous():
            raise NotImplementedError(
                f"FSDP does not support non-contiguous parameters yet: {param.shape=} {param.stride()=}"
            )
        self.owners, self.info, self.device, self.offload = list(owners), info, device, offload
        self.orig_dtype = param.dtype
        self._wanted_dtype = param_dtype
        self.unsharded_layout = param._dtensor_spec if isinstance(param, DTensor) else None
        data = param._local_tensor if isinstance(param, DTensor) else param.detach()
        if not data.is_contiguous():
            raise AssertionError(f"Expected contiguous tensor, got {data.shape=} {data.stride()=}")
        self.shape = tuple(data.shape)
        self._place(param, data, placement)
        self.fqn: str | None = None
        self.unsharded_param: nn.Parameter | None = None
        self.accumulated_grad: Tensor | None = None
        self.is_sharded = True
        self.gathered: Tensor | None = None
        self._split_first(param, data)

    def in_full_precision(self, full: bool, dtype: torch.dtype | None) -> None:
        """Gather the whole in the dtype of the parts, or again in `dtype`."""
        self._wanted_dtype = None if full else dtype
        self.gathered = self.unsharded_param = None

    def write_back(self) -> None:
        """Take this process's part from the whole."""
        if self.unsharded_param is not None:
            part = self._own_part(self.unsharded_param.detach())
            self._flat.narrow(0, 0, part.numel()).view(part.shape).copy_(part)

    def _own_part(self, whole: Tensor) -> Tensor:
        return self._here(whole).narrow(self.dim, self.start_in_bounds, self.local_shape[self.dim])

    def show_grad(self) -> None:
        """Give the whole parameter the whole gradient."""
        grad = self.sharded_param.grad
        if self.unsharded_param is None or not isinstance(grad, DTensor):
            return
        whole, before = grad.full_tensor(), self.unsharded_layout
        if before is not None:
            whole = distribute_tensor(whole, before.mesh, before.placements, src_data_rank=None)
        self.unsharded_param.grad = whole

    def hide_grad(self, keep: bool) -> None:
        """Take the gradient from the whole parameter, and this process's part of it when it is kept."""
        if self.unsharded_param is None:
            return
        whole, self.unsharded_param.grad = self.unsharded_param.grad, None
        own = self.sharded_param.grad
        if keep and whole is None:
            self.sharded_param.grad = None
        elif keep and isinstance(own, DTensor):
            own._local_tensor.copy_(self._own_part(whole))

    @property
    def start_in_bounds(self) -> int:
        """Where this process's part begins; the end, where it has none."""
        return min(self.start, self.shape[self.dim])

    @property
    def param_dtype(self) -> torch.dtype:
        """The dtype of the whole parameter."""
        wanted = self._wanted_dtype
        return wanted if wanted is not None and self.orig_dtype.is_floating_point else self.orig_dtype

    @staticmethod
    def _here(whole: Tensor) -> Tensor:
        """Return what this process has of a tensor that is whole but for other ways in which it is spread."""
        return whole._local_tensor if isinstance(whole, DTensor) else whole

    def _place(self, param: nn.Parameter, data: Tensor, placement: Shard | None) -> None:
        dim = 0 if placement is None else placement.dim
        dim = dim + param.ndim if dim < 0 else dim
        if dim >= param.ndim:
            raise AssertionError(f"Shard dim {dim} is invalid for {param.ndim}D tensor: {param.shape}")
        ways = self.info.shard_size
        if dim and data.shape[dim] % ways:
            raise NotImplementedError(
                f"FSDP does not support uneven sharding on dim {dim}: {data.size()} (world size: {ways})"
            )
        self.dim, self.rows = dim, -(-self.shape[dim] // ways)
        length, self.start = Shard.local_shard_size_and_offset(self.shape[dim], ways, self.info.shard_rank)
        self.local_shape = (*self.shape[:dim], length, *self.shape[dim + 1 :])
        self.part_numel = self.rows * math.prod(self.shape[:dim]) * math.prod(self.shape[dim + 1 :])
        self.layout = self._sharded_layout(param, dim)

    def _sharded_layout(self, param: nn.Parameter, dim: int) -> Layout:
        """Return how the parts lie: parts of this process's part where the parameter was spread before."""
        known = self.unsharded_layout
        if known is None:
            placements = self.info.placements(Shard(dim))
            return Layout(self.info.mesh, placements, self.shape, tuple(param.stride()), self.orig_dtype)
        if known.mesh.ndim > 2:
            raise NotImplementedError(f"FSDP only supports 1D TP/EP or 2D EP+TP, not {known.placements}")
        factor = DTensorSpec.of(known).num_shards_map[dim]
        shard = _StridedShard(dim, split_factor=factor) if factor > 1 else Shard(dim)
        mesh = DeviceMesh._concatenate([self.info.mesh, known.mesh])
        return replace(Layout.plain(known), mesh=mesh, placements=(*self.info.placements(shard), *known.placements))

    def _split_first(self, param: nn.Parameter, data: Tensor) -> None:
        length = self.local_shape[self.dim]
        part = data.narrow(self.dim, self.start_in_bounds, length)
        sharded = DTensor(self._padded(part), self.layout, requires_grad=False)
        self.sharded_param = nn.Parameter(sharded, requires_grad=param.requires_grad)
        _copy_attributes(param, self.sharded_param)
        self._put(self.sharded_param)

    def _padded(self, part: Tensor) -> Tensor:
        """Copy a part to the front of an array with room for the largest part; return it there."""
        target = torch.device("cpu") if self.offload and part.device.type != "meta" else part.device
        self._flat = torch.zeros(self.part_numel, dtype=part.dtype, device=target)
        there = self._flat.narrow(0, 0, part.numel()).view(part.shape)
        there.copy_(part)
        return there

    def _put(self, param: nn.Parameter) -> None:
        for module, name in self.owners:
            module._parameters[name] = param

    def reset_sharded_param(self) -> None:
        """Take up a parameter that was put in the place of ours: moved, cast, loaded or filled."""
        module, name = self.owners[0]
        found = module._parameters[name]
        if found is self.unsharded_param:
            return
        if not isinstance(found, DTensor):
            raise ValueError(f"Expects {name} to be a DTensor but got {type(found)}")
        local = found._local_tensor
        if found is self.sharded_param and local.untyped_storage()._cdata == self._flat.untyped_storage()._cdata:
            return
        self.orig_dtype = local.dtype
        self.layout = replace(self.layout, dtype=local.dtype)
        found._local_tensor = self._padded(local)
        self.sharded_param, self.unsharded_param, self.gathered = cast(nn.Parameter, found), None, None
        self._put(self.sharded_param)

    def gather_input(self) -> Tensor:
        """Return this process's part in the dtype and at the place of the whole."""
        return self._flat.to(device=self.device, dtype=self.param_dtype)

    @property
    def whole_numel(self) -> int:
        """The number of elements of all parts, filled up to equal sizes."""
        return self.part_numel * self.info.shard_size

    def use(self, gathered: Tensor, same_memory: Tensor) -> None:
        """Take arrays over the same memory: one that parts are gathered into, one that the whole parameter shows.

        Their version counters differ: gathering again is no change for what autograd saved.
        """
        self.gathered = gathered
        whole = same_memory.narrow(0, 0, math.prod(self.shape)).view(self.shape)
        if self.unsharded_layout is not None:
            layout = replace(Layout.plain(self.unsharded_layout), dtype=whole.dtype)
            whole = DTensor(whole, layout, requires_grad=False)
        self.unsharded_param = nn.Parameter(whole, requires_grad=self.sharded_param.requires_grad)
        _copy_attributes(self.sharded_param, self.unsharded_param)

    def to_unsharded(self) -> None:
        """Give the modules the whole parameter; its parts are gathered."""
        if self.gathered is None or self.unsharded_param is None:
            raise AssertionError("the parts are not gathered")
        if self.dim:
            self._order(self.gathered)
        if self.unsharded_param.requires_grad != self.sharded_param.requires_grad:
            self.unsharded_param.requires_grad_(self.sharded_param.requires_grad)
        self._put(self.unsharded_param)
        self.is_sharded = False

    def _order(self, gathered: Tensor) -> None:
        """Put the parts of an inner dimension side by side."""
        parts = [part.view(self.local_shape) for part in gathered.chunk(self.info.shard_size)]
        gathered.copy_(torch.cat(parts, dim=self.dim).reshape(-1))

    def to_sharded(self) -> None:
        """Give the modules this process's part."""
        self._put(self.sharded_param)
        self.is_sharded = True

    def take_grad(self) -> Tensor | None:
        """Return the whole parameter's gradient, with what was added up before, and forget it."""
        whole, known = self.unsharded_param, self.accumulated_grad
        grad = None if whole is None else whole.grad
        self.accumulated_grad = None
        if whole is not None:
            whole.grad = None
        if isinstance(grad, DTensor) and self.unsharded_layout is not None:
            grad = redistribute_local(grad._local_tensor, grad._dtensor_spec, self.unsharded_layout.placements)
        if known is None or grad is None:
            return known if grad is None else grad
        return known.add_(grad)

    def reduce_input(self, grad: Tensor, dtype: torch.dtype) -> Tensor:
        """Return a whole gradient as the parts of all processes, one behind the other."""
        grad = grad.detach().to(dtype)
        if self.dim:
            grad = torch.cat([part.reshape(-1) for part in grad.chunk(self.info.shard_size, dim=self.dim)])
        flat = grad.contiguous().view(-1)
        missing = self.whole_numel - flat.numel()
        return torch.cat([flat, flat.new_zeros(missing)]) if missing else flat

    def accept_grad(self, reduced: Tensor) -> None:
        """Add a reduced part to the gradient of this process's part."""
        local = reduced.narrow(0, 0, math.prod(self.local_shape)).view(self.local_shape).to(self.orig_dtype)
        local = local.to("cpu") if self.offload else local
        if self.sharded_param.grad is None:
            self.sharded_param.grad = DTensor(local, self.layout, requires_grad=False)
        else:
            self.sharded_param.grad._local_tensor.add_(local)
