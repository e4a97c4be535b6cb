"""Averaging of gradients by the leading part of a low-rank factorisation (PowerSGD)."""

from __future__ import annotations

import math
from typing import Any

import numpy

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.algorithms.ddp_comm_hooks import default_hooks as default

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]


class PowerSGDState:
    """Ranks, errors that are fed back, and the factors from which the next iteration starts.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState
    >>> state = PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=10)
    >>> state.matrix_approximation_rank, state.iter
    (2, 0)
    """

    __slots__ = [
        "batch_tensors_with_same_shape",
        "compression_stats_logging_frequency",
        "error_dict",
        "iter",
        "matrix_approximation_rank",
        "min_compression_rate",
        "next_stats_report",
        "orthogonalization_epsilon",
        "p_memory_dict",
        "process_group",
        "q_memory_dict",
        "rng",
        "start_powerSGD_iter",
        "total_numel_after_compression",
        "total_numel_before_compression",
        "use_error_feedback",
        "warm_start",
    ]

    def __init__(
        self,
        process_group: Any,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1_000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, "
                "because PowerSGD can only be applied after the first two iterations in DDP."
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback = use_error_feedback
        self.warm_start = warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = numpy.random.RandomState(random_seed)
        self.error_dict: dict[int, Any] = {}
        self.p_memory_dict: dict[int, Any] = {}
        self.q_memory_dict: dict[int, Any] = {}
        self.iter = 0
        self.total_numel_before_compression = 0
        self.total_numel_after_compression = 0
        self.compression_stats_logging_frequency = max(1, compression_stats_logging_frequency)
        self.next_stats_report = 0
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape

    def __getstate__(self) -> dict[str, Any]:
        return {slot: getattr(self, slot) for slot in self.__slots__ if slot != "process_group"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = dist.group.WORLD
        for slot, value in state.items():
            setattr(self, slot, value)

    def maybe_increase_iter(self, bucket: Any) -> None:
        """Count an iteration at its last bucket."""
        if bucket.is_last():
            self.iter += 1

    def compression_stats(self) -> tuple[float, int, int]:
        """Return the rate of compression, and the numbers of elements before and after it."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return before / after if after else 0, before, after

    def feed_back(self, index: int, flat: Any) -> Any:
        """Add what the last iteration lost; return what is to be approximated."""
        if not self.use_error_feedback:
            return None
        if index in self.error_dict:
            flat.add_(self.error_dict[index])
        return flat.detach().clone()


def _orthogonalize(matrices: Any, epsilon: float = 0) -> None:
    """Make the columns of each matrix orthonormal, in place."""
    rank = matrices.shape[2]
    if rank > 2 and matrices.dtype not in (torch.float16, torch.bfloat16):
        matrices.copy_(torch.linalg.qr(matrices)[0])
        return
    for index in range(rank):
        column = matrices[:, :, index : index + 1]
        column /= torch.norm(column, dim=1, keepdim=True) + epsilon
        rest = matrices[:, :, index + 1 :]
        if rest.shape[2]:
            rest -= torch.sum(column * rest, dim=1, keepdim=True) * column


def _stacks(state: PowerSGDState, matrices: list[Any]) -> list[list[Any]]:
    """Group matrices that are factorised in one product."""
    by_shape: dict[Any, list[Any]] = {}
    for matrix in matrices:
        by_shape.setdefault(tuple(matrix.shape), []).append(matrix)
    if state.batch_tensors_with_same_shape:
        return list(by_shape.values())
    return [[matrix] for same in by_shape.values() for matrix in same]


def _factors(
    state: PowerSGDState, index: int, stacks: list[Any], dtype: Any, device: Any
) -> tuple[list[Any], list[Any]]:
    """Return views of both factors' memory for every stack; the right ones are orthonormal."""
    ranks = [min(stack.shape[1], stack.shape[2], state.matrix_approximation_rank) for stack in stacks]
    shapes = [
        [(stack.shape[0], stack.shape[side], rank) for stack, rank in zip(stacks, ranks, strict=True)]
        for side in (1, 2)
    ]
    fresh = not state.warm_start or index not in state.p_memory_dict
    views = []
    for memory, side in zip((state.p_memory_dict, state.q_memory_dict), shapes, strict=True):
        if fresh:
            memory[index] = torch.empty(sum(map(math.prod, side)), device=device, dtype=dtype)
        parts = memory[index].split([math.prod(shape) for shape in side])
        views.append([part.view(shape) for part, shape in zip(parts, side, strict=True)])
    if fresh:
        generator = torch.Generator().manual_seed(int(state.rng.randint(1_000_000_000)))
        for right in views[1]:
            right.copy_(torch.randn(*right.shape, dtype=dtype, generator=generator))
    for right in views[1]:
        _orthogonalize(right, state.orthogonalization_epsilon)
    return views[0], views[1]


def _approximate(state: PowerSGDState, index: int, group: Any, stacks: list[Any], like: Any) -> None:
    """Replace stacks of matrices by the average of their low-rank approximations."""
    if not stacks:
        return
    lefts, rights = _factors(state, index, stacks, like.dtype, like.device)
    for stack, left, right in zip(stacks, lefts, rights, strict=True):
        torch.bmm(stack, right, out=left)
    dist.all_reduce(state.p_memory_dict[index], group=group)
    for stack, left, right in zip(stacks, lefts, rights, strict=True):
        _orthogonalize(left, state.orthogonalization_epsilon)
        torch.bmm(stack.transpose(1, 2), left, out=right)
    dist.all_reduce(state.q_memory_dict[index], group=group)
    state.q_memory_dict[index].div_(group.size())
    for stack, left, right in zip(stacks, lefts, rights, strict=True):
        torch.bmm(left, right.transpose(1, 2), out=stack)


def _finish(state: PowerSGDState, bucket: Any, wanted: Any, flat: Any) -> Any:
    if wanted is not None:
        state.error_dict[bucket.index()] = wanted - flat
    if not state.warm_start:
        state.p_memory_dict.clear()
        state.q_memory_dict.clear()
    state.maybe_increase_iter(bucket)
    done: Any = torch.futures.Future()
    done.set_result(flat)
    return done


def powerSGD_hook(state: PowerSGDState, bucket: Any) -> Any:
    """Average every matrix of a bucket that is worth it by low rank, all else exactly.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState, powerSGD_hook
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> model.register_comm_hook(PowerSGDState(None, start_powerSGD_iter=2), powerSGD_hook)
    >>> model(torch.ones(2, 1)).sum().backward()
    >>> model.module.bias.grad
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    group, flat = default._group(state.process_group), bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return default._allreduce_fut(group, flat)
    index = bucket.index()
    wanted = state.feed_back(index, flat)
    low: list[Any] = []
    exact: list[Any] = []
    for gradient in bucket.gradients():
        matrix = gradient.view(gradient.shape[0], -1) if gradient.dim() else gradient.view(1, 1)
        rows, columns = matrix.shape
        small = (rows + columns) * min(rows, columns, state.matrix_approximation_rank)
        worth = small * state.min_compression_rate < rows * columns
        (low if worth else exact).append(matrix)
        state.total_numel_before_compression += rows * columns
        state.total_numel_after_compression += small if worth else rows * columns
    if exact:
        together = torch.cat([matrix.reshape(-1) for matrix in exact])
        dist.all_reduce(together, group=group)
        together.div_(group.size())
        for matrix, part in zip(exact, together.split([matrix.numel() for matrix in exact]), strict=True):
            matrix.copy_(part.view_as(matrix))
    groups = _stacks(state, low)
    stacks = [same[0].unsqueeze(0) if len(same) == 1 else torch.stack(same) for same in groups]
    _approximate(state, index, group, stacks, flat)
    for same, stack in zip(groups, stacks, strict=True):
        for position, matrix in enumerate(same):
            if len(same) > 1:
                matrix.copy_(stack[position])
    return _finish(state, bucket, wanted, flat)


def batched_powerSGD_hook(state: PowerSGDState, bucket: Any) -> Any:
    """Average a whole bucket as one square matrix of low rank.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState, batched_powerSGD_hook
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> model.register_comm_hook(PowerSGDState(None, start_powerSGD_iter=2), batched_powerSGD_hook)
    >>> model(torch.ones(2, 1)).sum().backward()
    >>> model.module.bias.grad
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    group, flat = default._group(state.process_group), bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return default._allreduce_fut(group, flat)
    index = bucket.index()
    wanted = state.feed_back(index, flat)
    side = math.ceil(math.sqrt(flat.numel()))
    square = torch.zeros(side * side, dtype=flat.dtype, device=flat.device)
    square[: flat.numel()].copy_(flat)
    state.total_numel_before_compression += flat.numel()
    state.total_numel_after_compression += side * state.matrix_approximation_rank * 2
    _approximate(state, index, group, [square.view(1, side, side)], flat)
    flat.copy_(square[: flat.numel()])
    return _finish(state, bucket, wanted, flat)


adopt(globals())
