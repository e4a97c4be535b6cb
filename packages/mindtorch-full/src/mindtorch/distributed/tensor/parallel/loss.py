"""Losses on logits whose classes are spread: every process computes with its classes, and only sums are exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed._reduce_op import RedOpType
from mindtorch.distributed.tensor import DTensor
from mindtorch.distributed.tensor._dispatch import OVERRIDES
from mindtorch.distributed.tensor._layout import local_shape_and_offset
from mindtorch.distributed.tensor.placement_types import Replicate
from mindtorch.tensor.tensor import Tensor

__all__ = ["loss_parallel"]

_NONE, _MEAN = 0, 1


@contextmanager
def loss_parallel() -> Iterator[None]:
    """Within the block cross entropy takes logits whose classes are spread, without gathering them; so does backward.

    with loss_parallel():
        loss = torch.nn.functional.cross_entropy(logits, target)  # logits are a DTensor with Shard(1)
        loss.backward()
    """
    OVERRIDES.update(_OPS)
    try:
        yield
    finally:
        for name in _OPS:
            OVERRIDES.pop(name, None)


def _mesh_dim(x: DTensor, dim: int) -> int:
    """Return the dimension of the mesh over which the classes are spread: exactly one."""
    placements = x._dtensor_spec.placements
    found = [index for index, placement in enumerate(placements) if placement.is_shard(dim)]
    if len(found) != 1:
        raise ValueError(
            f"loss_parallel() requires exactly one mesh dim to shard tensor dimension {dim}, but got placements "
            f"{placements} with {len(found)} such mesh dim(s)."
        )
    if x._dtensor_spec.mesh.ndim > 1:
        raise NotImplementedError("loss_parallel() on a mesh of several dimensions is not offered")
    return found[0]


def _reduced(local: Tensor, x: DTensor, mesh_dim: int, op: RedOpType) -> Tensor:
    local = local.contiguous()
    dist.all_reduce(local, op=op, group=x._dtensor_spec.mesh.get_group(mesh_dim))
    return local


def _like(cls: type[DTensor], local: Tensor, x: DTensor) -> DTensor:
    spec = x._dtensor_spec
    return cls._wrap(local, spec.mesh, spec.placements, spec.shape, spec.stride)


def _whole(cls: type[DTensor], local: Tensor, x: DTensor) -> DTensor:
    mesh = x._dtensor_spec.mesh
    return cls._wrap(local, mesh, (Replicate(),) * mesh.ndim)


def _local(value: Tensor) -> Tensor:
    return value.full_tensor() if isinstance(value, DTensor) else value


def _log_softmax(cls: type[DTensor], x: DTensor, dim: int, half_to_float: bool) -> DTensor:
    dim = dim % x.ndim
    mesh_dim, local = _mesh_dim(x, dim), x._local_tensor
    if local.numel():
        greatest = local.amax(dim, keepdim=True)
    else:  # this process has no classes
        greatest = local.new_full((*local.shape[:dim], 1, *local.shape[dim + 1 :]), -torch.inf)
    shifted = local - _reduced(greatest, x, mesh_dim, dist.ReduceOp.MAX)
    total = _reduced(shifted.exp().sum(dim, keepdim=True), x, mesh_dim, dist.ReduceOp.SUM)
    return _like(cls, shifted - total.log(), x)


def _log_softmax_backward(
    cls: type[DTensor], grad: DTensor, output: DTensor, dim: int, input_dtype: torch.dtype
) -> DTensor:
    dim = dim % output.ndim
    mesh_dim, local = _mesh_dim(output, dim), grad._local_tensor
    total = _reduced(local.sum(dim, keepdim=True), output, mesh_dim, dist.ReduceOp.SUM)
    return _like(cls, (local - output._local_tensor.exp() * total).to(input_dtype), output)


def _class_dim(x: DTensor) -> int:
    return 0 if x.ndim < 2 else 1


def _places(x: DTensor, target: Tensor, ignore_index: int) -> tuple[Tensor, Tensor]:
    """Return where targets lie within this process's classes, and which lie elsewhere or are ignored."""
    dim = _class_dim(x)
    size, offset = local_shape_and_offset(x.shape, x._dtensor_spec.mesh, x._dtensor_spec.placements)
    places = target - offset[dim]
    elsewhere = (places < 0) | (places >= size[dim]) | (target == ignore_index)
    return places.masked_fill(elsewhere, 0).unsqueeze(dim), elsewhere.unsqueeze(dim)


def _weights(x: DTensor, target: Tensor, weight: Tensor | None, ignore_index: int) -> Tensor:
    """Return what every target counts."""
    if weight is None:
        counts = torch.ones_like(target, dtype=x.dtype)
    else:
        counts = _local(weight)[target.masked_fill(target == ignore_index, 0)].to(x.dtype)
    return counts.masked_fill(target == ignore_index, 0)


def _nll_loss(
    cls: type[DTensor], x: DTensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[DTensor, DTensor]:
    dim = _class_dim(x)
    mesh_dim, target = _mesh_dim(x, dim), _local(target)
    places, elsewhere = _places(x, target, ignore_index)
    if x._local_tensor.shape[dim]:
        found = x._local_tensor.gather(dim, places).masked_fill(elsewhere, 0).squeeze(dim)
    else:
        found = torch.zeros_like(target, dtype=x.dtype)
    counts = _weights(x, target, weight, ignore_index)
    losses = -_reduced(found, x, mesh_dim, dist.ReduceOp.SUM) * counts
    total = counts.sum()
    if reduction == _NONE:
        return _whole(cls, losses, x), _whole(cls, torch.zeros_like(total), x)
    summed = losses.sum()
    return _whole(cls, summed / total if reduction == _MEAN else summed, x), _whole(cls, total, x)


def _nll_loss_backward(
    cls: type[DTensor],
    grad: Tensor,
    x: DTensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> DTensor:
    dim = _class_dim(x)
    _mesh_dim(x, dim)
    target = _local(target)
    places, elsewhere = _places(x, target, ignore_index)
    given = _local(grad) / _local(total_weight) if reduction == _MEAN else _local(grad)
    values = (-given * _weights(x, target, weight, ignore_index)).unsqueeze(dim).masked_fill(elsewhere, 0)
    result = torch.zeros_like(x._local_tensor)
    if result.shape[dim]:
        result.scatter_add_(dim, places, values.to(result.dtype))
    return _like(cls, result, x)


_OPS: dict[str, Callable[..., object]] = {
    "_log_softmax": _log_softmax,
    "_log_softmax_backward_data": _log_softmax_backward,
    "nll_loss_forward": _nll_loss,
    "nll_loss_backward": _nll_loss_backward,
    "nll_loss2d_forward": _nll_loss,
    "nll_loss2d_backward": _nll_loss_backward,
}

adopt(globals())
