"""Steps that all processes take together, and looking up in state dicts."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed._shard.sharded_tensor import ShardedTensor
from mindtorch.distributed.checkpoint._pickles import dumps, loads
from mindtorch.distributed.checkpoint.api import (
    WRAPPED_EXCEPTION,
    CheckpointException,
    _is_wrapped_exception,
    _wrap_exception,
)
from mindtorch.distributed.checkpoint.metadata import STATE_DICT_TYPE, MetadataIndex
from mindtorch.distributed.tensor import DTensor
from mindtorch.distributed.tensor._layout import local_shape_and_offset
from mindtorch.tensor.tensor import Tensor

__all__ = ["find_state_dict_object", "find_tensor_shard"]

T = TypeVar("T")
R = TypeVar("R")


def _get_failure_dict(results: list[Any]) -> dict[int, WRAPPED_EXCEPTION]:
    return {rank: result for rank, result in enumerate(results) if _is_wrapped_exception(result)}


class _DistWrapper:
    """The processes of a group, or this one alone; the coordinator decides for all."""

    def __init__(self, group: dist.ProcessGroup | None, use_dist: bool, coordinator_rank: int) -> None:
        self.group, self.use_dist, self.coordinator_rank = group, use_dist, coordinator_rank
        self.global_coordinator_rank = coordinator_rank
        if use_dist:
            chosen = group if group is not None else dist.group.WORLD
            self.global_coordinator_rank = dist.get_global_rank(chosen, coordinator_rank)
            self.rank = dist.get_rank(group)
            self.is_coordinator = self.rank == coordinator_rank
        else:
            self.rank, self.is_coordinator = 0, True

    def get_rank(self) -> int:
        """Return this process's rank."""
        return self.rank

    def get_world_size(self) -> int:
        """Return the number of processes."""
        return dist.get_world_size(self.group) if self.use_dist else 1

    def broadcast_object(self, object: T | None) -> T:
        """Return the coordinator's object."""
        boxes: list[Any] = [dumps(object)]
        if self.use_dist:
            dist.broadcast_object_list(boxes, group=self.group, src=self.global_coordinator_rank)
        return cast(T, loads(boxes[0]))

    def gather_object(self, object: T) -> list[T] | None:
        """Return the objects of all at the coordinator, None elsewhere."""
        if not self.use_dist:
            return [object]
        boxes: list[Any] | None = [None] * self.get_world_size() if self.is_coordinator else None
        dist.gather_object(dumps(object), boxes, dst=self.global_coordinator_rank, group=self.group)
        return None if boxes is None else [loads(box) for box in boxes]

    def all_gather_object(self, object: T) -> list[T]:
        """Return the objects of all."""
        if not self.use_dist:
            return [object]
        boxes: list[Any] = [None] * self.get_world_size()
        dist.all_gather_object(boxes, dumps(object), group=self.group)
        return [loads(box) for box in boxes]

    def scatter_object(self, object_list: list[T] | None) -> T:
        """Return this process's object of the coordinator's list."""
        if not self.use_dist:
            if object_list is None:
                raise AssertionError("object_list is None")
            return object_list[0]
        given = [dumps(one) for one in object_list] if self.is_coordinator and object_list is not None else None
        box: list[Any] = [None]
        dist.scatter_object_list(box, given, src=self.global_coordinator_rank, group=self.group)
        return cast(T, loads(box[0]))

    def _of_all(self, step: str, all_data: list[Any] | None, reduce_fun: Callable[[list[Any]], Any]) -> Any:
        """Return the coordinator's answer, or the exception of a failure anywhere; None elsewhere."""
        if all_data is None:
            return None
        failures = _get_failure_dict(all_data)
        if not failures:
            try:
                return reduce_fun(all_data)
            except BaseException as error:  # noqa: BLE001 - every process raises it
                failures[self.rank] = _wrap_exception(error)
        return CheckpointException(step, failures)

    def reduce_scatter(self, step: str, map_fun: Callable[[], T], reduce_fun: Callable[[list[T]], list[R]]) -> R:
        """Call `map_fun` everywhere, `reduce_fun` with the results, and return this process's part."""
        found = self._of_all(step, self.gather_object(_attempt(map_fun)), reduce_fun)
        if isinstance(found, CheckpointException):
            found = [found] * self.get_world_size()
        return cast(R, _checked(self.scatter_object(found)))

    def all_reduce(self, step: str, map_fun: Callable[[], T], reduce_fun: Callable[[list[T]], R]) -> R:
        """Call `map_fun` everywhere, `reduce_fun` with the results, and return its result."""
        found = self._of_all(step, self.gather_object(_attempt(map_fun)), reduce_fun)
        return cast(R, _checked(self.broadcast_object(found)))

    def all_gather(self, step: str, map_fun: Callable[[], T]) -> list[T]:
        """Call `map_fun` everywhere, and return all results."""
        results = self.all_gather_object(_attempt(map_fun))
        failures = _get_failure_dict(results)
        if failures:
            raise CheckpointException(step, failures)
        return cast(list[T], results)

    def broadcast(self, step: str, map_fun: Callable[[], T]) -> T:
        """Call `map_fun` at the coordinator, and return its result."""
        result = _attempt(map_fun) if self.is_coordinator else None
        if _is_wrapped_exception(result):
            result = CheckpointException(step, {self.rank: cast(WRAPPED_EXCEPTION, result)})
        return cast(T, _checked(self.broadcast_object(result)))

    def barrier(self) -> None:
        """Wait for all."""
        if self.use_dist:
            dist.barrier(group=self.group)


def _attempt(function: Callable[[], object]) -> object:
    try:
        return function()
    except BaseException as error:  # noqa: BLE001 - every process raises it
        return _wrap_exception(error)


def _checked(result: object) -> object:
    if isinstance(result, CheckpointException):
        raise result
    return result


def _api_bc_check(func: Callable[..., T]) -> Callable[..., T]:
    """Take a storage as the second argument, as torch once did."""

    @functools.wraps(func)
    def inner(*args: Any, **kwargs: Any) -> T:
        if len(args) != 2:
            return func(*args, **kwargs)
        warnings.warn(
            f"The argument order of {func.__name__} has been changed. "
            "Please check the document to avoid future breakages.",
            stacklevel=2,
        )
        name = next(name for name in inspect.signature(func).parameters if name.startswith("storage_"))
        if name in kwargs:
            raise AssertionError((kwargs[name], name))
        return func(args[0], **kwargs, **{name: args[1]})

    return inner


def _find_shard(tensor: ShardedTensor, index: MetadataIndex) -> Tensor:
    if index.offset is None:
        raise ValueError(f"Cannot lookup {index.fqn} since its a ShardedTensor and no offset was provided")
    for shard in tensor.local_shards():
        if torch.Size(shard.metadata.shard_offsets) == index.offset:
            return shard.tensor
    raise ValueError(f"Could not find shard at '{index.offset}' for FQN: '{index.fqn}'")


def find_tensor_shard(tensor: Tensor, index: MetadataIndex) -> Tensor:
    """Return the part of a tensor that begins at `index.offset`."""
    if isinstance(tensor, ShardedTensor):
        return _find_shard(tensor, index)
    if isinstance(tensor, DTensor):
        _, offset = local_shape_and_offset(tensor.shape, tensor.device_mesh, tensor.placements)
        if index.offset is not None and tuple(index.offset) != tuple(offset):
            raise ValueError(f"Could not find shard at '{index.offset}' for FQN: '{index.fqn}'")
        return tensor.to_local()
    if index.offset is not None and index.offset != torch.Size([0] * tensor.dim()):
        raise ValueError(f"FQN: '{index.fqn}' is not a ShardedTensor, can't find by offset: '{index.offset}'")
    return tensor


def find_state_dict_object(state_dict: STATE_DICT_TYPE, index: MetadataIndex) -> Any:
    """Return what a state dict has under a name: a tensor's part, or an object."""
    if index.fqn not in state_dict:
        raise ValueError(f"Could not find FQN: '{index.fqn}'")
    found = state_dict[index.fqn]
    if isinstance(found, Tensor):
        return find_tensor_shard(found, index)
    if index.offset is not None:
        raise ValueError(f"FQN: '{index.fqn}' is not a ShardedTensor, can't find by offset: '{index.offset}'")
    return found


adopt(globals())
